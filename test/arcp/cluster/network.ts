/**
 * Machines as network namespaces: a PostgreSQL server, runtimes and clients. Each runtime has a link to the server and one to the clients, which
 * can be cut separately.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import pg from 'pg';
import type { Place } from './world.js';

const [SERVER_NET, CLIENT_NET] = ['10.77.2', '10.77.1'];
const POSTGRES = ['17', '16', '15', '14', '13']
  .map((version) => `/usr/lib/postgresql/${version}/bin`)
  .find((folder) => existsSync(folder));

/** Returns what is missing for machines; `undefined` for nothing. */
export function missingForMachines(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root';
  if (POSTGRES === undefined) return 'it needs the Debian package postgresql';
  try {
    execFileSync('ip', ['netns', 'add', 'pegwire-try'], { stdio: 'ignore' });
    execFileSync('ip', ['netns', 'delete', 'pegwire-try']);
  } catch {
    return 'it needs the Debian package iproute2, and network namespaces';
  }
  return undefined;
}

export class Machines {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'pegwire-machines-'));
  readonly #names: string[] = [];
  readonly #prefix = `pw${process.pid}`;
  readonly runtimes: readonly string[];

  constructor(runtimes: readonly string[]) {
    this.runtimes = runtimes;
    const hub = this.#add('hub');
    for (const bridge of ['server', 'client']) {
      ip('-n', hub, 'link', 'add', bridge, 'type', 'bridge');
      ip('-n', hub, 'link', 'set', bridge, 'up');
    }
    this.#link(this.#add('db'), 'server', `${SERVER_NET}.100`);
    this.#link(this.#add('clients'), 'client', `${CLIENT_NET}.100`);
    for (const [n, name] of runtimes.entries()) {
      const namespace = this.#add(name);
      this.#link(namespace, 'server', `${SERVER_NET}.${n + 1}`);
      this.#link(namespace, 'client', `${CLIENT_NET}.${n + 1}`);
    }
    const folder = this.#folder;
    execFileSync('chown', ['postgres', folder]);
    this.#asPostgres('initdb', '-D', `${folder}/data`, '-A', 'trust', '-U', 'postgres', '--no-sync');
    this.#control('start');
  }

  /** The database as the runtimes reach it. */
  readonly database = `postgres://postgres@${SERVER_NET}.100/postgres`;

  /** A client of the database, on a socket that no fault concerns. */
  openDatabase(): pg.Pool {
    return new pg.Pool({ host: this.#folder, user: 'postgres', database: 'postgres', max: 4 });
  }

  readonly placeOf = (name: string): Place => {
    const place = this.runtimes.findIndex((runtime) => name.startsWith(runtime));
    const machine = place < 0 ? name : this.runtimes[place]!;
    const host = `${CLIENT_NET}.${place < 0 ? 100 : place + 1}`;
    return { prefix: ['ip', 'netns', 'exec', this.#namespace(machine)], host };
  };

  /** Cuts or restores the links of a machine. */
  setLinks(name: string, state: 'up' | 'down', links: readonly ('server' | 'client')[] = ['server', 'client']): void {
    for (const link of links) ip('-n', this.#namespace(name), 'link', 'set', link, state);
  }

  /** Restarts PostgreSQL, which ends all connections. */
  restartDatabase(): void {
    this.#control('restart', '-m', 'immediate');
  }

  remove(): void {
    try {
      this.#control('stop', '-m', 'immediate');
    } finally {
      for (const name of this.#names) ip('netns', 'delete', name);
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  #namespace(name: string): string {
    return `${this.#prefix}-${name}`;
  }

  #add(name: string): string {
    const namespace = this.#namespace(name);
    ip('netns', 'add', namespace);
    this.#names.push(namespace);
    ip('-n', namespace, 'link', 'set', 'lo', 'up');
    return namespace;
  }

  /** Links a machine to a bridge of the hub. */
  #link(namespace: string, bridge: string, address: string): void {
    const [hub, end] = [this.#namespace('hub'), `v${address.replaceAll('.', '-')}`];
    ip('-n', hub, 'link', 'add', end, 'type', 'veth', 'peer', 'name', bridge, 'netns', namespace);
    ip('-n', hub, 'link', 'set', end, 'master', bridge, 'up');
    ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', bridge);
    ip('-n', namespace, 'link', 'set', bridge, 'up');
  }

  #control(...action: readonly string[]): void {
    const folder = this.#folder;
    const options = `-c listen_addresses=* -c unix_socket_directories=${folder} -c max_connections=200 -c fsync=off`;
    this.#asPostgres('pg_ctl', '-D', `${folder}/data`, '-l', `${folder}/log`, '-o', options, '-w', ...action);
    if (action[0] !== 'start') return;
    execFileSync('sh', ['-c', `echo 'host all all ${SERVER_NET}.0/24 trust' >> ${folder}/data/pg_hba.conf`]);
    this.#asPostgres('pg_ctl', '-D', `${folder}/data`, 'reload');
  }

  #asPostgres(program: string, ...args: readonly string[]): void {
    const command = ['netns', 'exec', this.#namespace('db'), 'runuser', '-u', 'postgres', '--'];
    // Its output would stay open with the server.
    execFileSync('ip', [...command, path.join(POSTGRES!, program), ...args], { stdio: 'ignore', cwd: '/' });
  }
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
