// @ts-check
// biome-ignore-all lint/correctness/noNodejsModules: it is a program for Node
/**
 * Restrictions that the permission model of Node lacks: the network before Node 25, other processes of the same user, and the files of
 * databases. The functions that access them are replaced by functions that throw. This stops mistakes, but not malicious code.
 */
import dgram from 'node:dgram';
import dns from 'node:dns';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import process from 'node:process';
import tls from 'node:tls';
import v8 from 'node:v8';

/** @typedef {Record<string, any>} Names */

/** Replaces the functions. */
export function denyReach() {
  const network = denial('Network', 'use context.broker to access the network');
  const names = /^(lookup|resolve|reverse|setServers)/;
  replace(net.Socket.prototype, ['connect'], network);
  replace(net.Server.prototype, ['listen', '_listen2'], network);
  replace(net, ['connect', 'createConnection', '_createServerHandle'], network);
  replace(tls, ['connect'], network);
  replace(http, ['request', 'get'], network);
  replace(https, ['request', 'get'], network);
  replace(http2, ['connect'], network);
  replace(dgram.Socket.prototype, ['bind', 'connect', 'send', 'sendto'], network);
  replace(dgram, ['createSocket', 'Socket'], network);
  for (const part of [dns, dns.promises]) {
    replace(part, namesOf(part, names), network);
    for (let of = part.Resolver.prototype; of !== null && of !== Object.prototype; of = Object.getPrototypeOf(of))
      replace(of, namesOf(of, names), network);
  }
  replace(globalThis, ['fetch'], async () => network());
  replace(globalThis, ['WebSocket', 'EventSource'], network);
  const others = denial('Process', 'a sandboxed tool cannot access other processes');
  replace(process, ['kill', '_kill', '_debugProcess', '_debugEnd'], others);
  replace(os, ['setPriority'], others);
  // In case the flag did not disable it.
  replace(
    process.getBuiltinModule?.('node:sqlite') ?? {},
    ['DatabaseSync', 'backup'],
    denial('FileSystem', 'a sandboxed tool cannot open databases'),
  );
  replace(v8, ['setFlagsFromString'], denial('Process', 'a sandboxed tool cannot change the flags of V8'));
  syncBuiltinESMExports();
}

/**
 * Creates a function that throws an error like those of the permission model of Node.
 *
 * @param {string} permission
 * @param {string} why
 */
function denial(permission, why) {
  // Not an arrow function, since some are called with `new`.
  return function denied() {
    throw Object.assign(new Error(`Access to this API has been restricted: ${why}`), {
      ...{ code: 'ERR_ACCESS_DENIED', permission },
    });
  };
}

/**
 * @param {object} of
 * @param {readonly string[]} names
 * @param {Function} by
 */
function replace(of, names, by) {
  for (const name of names)
    if (name in of)
      Object.defineProperty(of, name, { value: by, writable: false, configurable: false, enumerable: true });
}

/**
 * @param {object} of
 * @param {RegExp} which
 */
function namesOf(of, which) {
  return Object.getOwnPropertyNames(of).filter((name) => which.test(name));
}
