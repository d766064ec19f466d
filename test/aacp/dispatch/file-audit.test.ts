import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { keepPrivate } from '../../../src/aacp/dispatch/file-audit.js';
import {
  type AuditNotice,
  createDispatcher,
  fileAudit,
  type TornEndNotice,
  verifyAuditFile,
} from '../../../src/aacp/dispatch/index.js';
import { TSX } from '../../accp/session/tsx.js';
import { entry, tickingClock } from './entries.js';
import { freshFiles } from './fresh-folder.js';

const newFile = freshFiles();
const HOLD = fileURLToPath(new URL('./programs/hold.ts', import.meta.url));

/** A log with some records, closed. */
async function closedLog(records: number): Promise<{ file: string; head: string }> {
  const file = newFile();
  const audit = await fileAudit(file, { now: tickingClock() });
  for (let number = 1; number <= records; number++) await audit.append(entry(`packet ${number}`));
  await audit.close();
  return { file, head: audit.head() };
}

test('records are lines of a private file, to which the next writer appends', async () => {
  const { file, head } = await closedLog(2);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(existsSync(`${file}.lock`)).toBe(false);
  const audit = await fileAudit(file, { powerSafe: true });
  expect([audit.records(), audit.head()]).toEqual([2, head]);
  const record = await audit.append(entry('packet 3'));
  expect(record).toMatchObject({ seq: 3, previous: head });
  await audit.close();
  expect(
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).packet),
  ).toEqual(['packet 1', 'packet 2', 'packet 3']);
  expect(await verifyAuditFile(file, { head })).toEqual({ ok: true, records: 3, firstFault: null, head: audit.head() });
});

// Windows has no permissions of this kind.
const withModes = test.skipIf(process.platform === 'win32');

withModes.each([0o666, 0o644, 0o640, 0o620])('a log with mode %i is for its owner only from then on', async (mode) => {
  const { file } = await closedLog(1);
  chmodSync(file, mode);
  const notices: AuditNotice[] = [];
  const audit = await fileAudit(file, { onNotice: (notice) => notices.push(notice) });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(notices).toEqual([]);
  await audit.close();
});

withModes('a damaged log keeps its mode', async () => {
  const { file } = await closedLog(2);
  chmodSync(file, 0o644);
  writeFileSync(file, readFileSync(file, 'utf8').replace('packet 1', 'packet 9'));
  await expect(fileAudit(file)).rejects.toMatchObject({ code: 'audit-damaged' });
  expect(statSync(file).mode & 0o777).toBe(0o644);
});

describe('a mode that cannot be changed', () => {
  const error = new Error('EPERM');
  const handleWith = (mode: number, isFile = true) => {
    const chmod = vi.fn(() => Promise.reject(error));
    return { chmod, handle: { stat: async () => ({ mode, isFile: () => isFile }), chmod } as never };
  };

  test('is reported if it is too wide', async () => {
    const notice = { kind: 'wide-mode', file: 'audit.jsonl', mode: 0o664, error };
    expect(await keepPrivate(handleWith(0o100664).handle, 'audit.jsonl', 'linux')).toEqual(notice);
  });

  test.each([
    ['a private file', 0o100600, true, 'linux'],
    ['a device', 0o020666, false, 'linux'],
    ['a file on Windows', 0o100666, true, 'win32'],
  ])('is left alone: %s', async (_name, mode, isFile, platform) => {
    const { chmod, handle } = handleWith(mode, isFile);
    expect(await keepPrivate(handle, 'x', platform)).toBeNull();
    expect(chmod).not.toHaveBeenCalled();
  });
});

test('a log larger than the read buffer is read', async () => {
  const file = newFile();
  const audit = await fileAudit(file);
  await Promise.all(Array.from({ length: 40 }, () => audit.append(entry('\u00e9'.repeat(3_000)))));
  await audit.close();
  expect(statSync(file).size).toBeGreaterThan(500_000);
  expect(await verifyAuditFile(file)).toMatchObject({ ok: true, records: 40 });
});

test('concurrent records are written in their order', async () => {
  const file = newFile();
  const audit = await fileAudit(file);
  const numbers = Array.from({ length: 30 }, (_, number) => number);
  const records = await Promise.all(numbers.map((number) => audit.append(entry(String(number)))));
  expect(records.map(({ seq, packet }) => [seq, packet])).toEqual(
    numbers.map((number) => [number + 1, String(number)]),
  );
  await audit.close();
  expect(await verifyAuditFile(file)).toMatchObject({ ok: true, records: 30 });
});

test('a dispatcher calls no handler if its log cannot be written any more', async () => {
  const audit = await fileAudit(newFile());
  const { dispatch } = createDispatcher({ audit, deliver: () => 'x' });
  expect(await dispatch('ACK|HR|return:A|p:1|aacp:1.1')).toMatchObject({ ok: true });
  await audit.close();
  expect(await dispatch('ACK|HR|return:A|p:1|aacp:1.1')).toMatchObject({
    ok: false,
    reason: 'no-audit',
    auditError: { code: 'audit-closed' },
  });
});

test('a change to any byte of a file is found, and nothing is appended to it', async () => {
  const { file } = await closedLog(2);
  const bytes = readFileSync(file);
  const bent = newFile();
  // A crash can leave out the last byte, which is a line end.
  for (let at = 0; at < bytes.length - 1; at += 7) {
    const copy = Buffer.from(bytes);
    copy[at]! ^= 0x80;
    writeFileSync(bent, copy);
    expect((await verifyAuditFile(bent)).ok).toBe(false);
    if (at % 70 === 0) {
      await expect(fileAudit(bent)).rejects.toMatchObject({ name: 'AuditError', code: 'audit-damaged' });
      expect(readFileSync(bent)).toEqual(copy);
    }
  }
});

describe('a torn end', () => {
  test.each([1, 50, 200])('of %d bytes is moved to another file, and the chain continues', async (bytes) => {
    const { file } = await closedLog(2);
    const third = await fileAudit(file);
    const before = statSync(file).size;
    await third.append(entry('packet 3'));
    await third.close();
    const torn = readFileSync(file).subarray(before, before + bytes);
    truncateSync(file, before + bytes);

    const notices: AuditNotice[] = [];
    const audit = await fileAudit(file, { onNotice: (notice) => notices.push(notice) });
    expect(notices).toEqual([{ kind: 'torn-end', movedTo: expect.stringContaining(`${file}.torn-3-`), bytes }]);
    const { movedTo } = notices[0] as TornEndNotice;
    expect(readFileSync(movedTo)).toEqual(torn);
    expect(statSync(movedTo).mode & 0o777).toBe(0o600);
    expect(await audit.append(entry('again'))).toMatchObject({ seq: 3 });
    await audit.close();
    expect(await verifyAuditFile(file)).toMatchObject({ ok: true, records: 3 });
  });

  test('in the first record leaves an empty log', async () => {
    const file = newFile();
    writeFileSync(file, '{"seq":1,"ti');
    const audit = await fileAudit(file);
    expect(audit.records()).toBe(0);
    await audit.close();
  });
});

/** The number of open handles of this process on a file; `null` if the platform does not report it. */
function handlesOn(file: string): number | null {
  if (!existsSync('/proc/self/fd')) return null;
  const real = realpathSync(file);
  return readdirSync('/proc/self/fd').filter((number) => {
    try {
      return readlinkSync(`/proc/self/fd/${number}`) === real;
    } catch {
      // The handle that was used to read the folder.
      return false;
    }
  }).length;
}

describe('a listener that throws', () => {
  async function tornLog(): Promise<string> {
    const { file } = await closedLog(2);
    appendFileSync(file, '{"seq":3,');
    return file;
  }

  test.each([new Error('not now'), 'not now', undefined])(
    'receives the error of %s; the log is closed, and can be opened again',
    async (thrown) => {
      const file = await tornLog();
      const onNotice = vi.fn(() => {
        throw thrown;
      });
      const caught = await fileAudit(file, { onNotice }).then(
        () => ['opened'],
        (error: unknown) => [error],
      );
      expect(caught[0]).toBe(thrown);
      expect(onNotice).toHaveBeenCalledOnce();
      expect(existsSync(`${file}.lock`)).toBe(false);
      expect(handlesOn(file) ?? 0).toBe(0);
      const audit = await fileAudit(file, { onNotice });
      expect(audit.records()).toBe(2);
      await audit.close();
      expect(onNotice).toHaveBeenCalledOnce();
    },
  );

  test('leaves no handle open even if the lock cannot be released', async () => {
    const file = await tornLog();
    const thrown = new Error('not now');
    const onNotice = () => {
      // Only regular files can be read.
      rmSync(`${file}.lock`);
      mkdirSync(`${file}.lock`);
      throw thrown;
    };
    await expect(fileAudit(file, { onNotice })).rejects.toBe(thrown);
    expect(handlesOn(file) ?? 0).toBe(0);
  });
});

describe('one writer at a time:', () => {
  test('a second one in the same process is rejected, also through links', async () => {
    const file = newFile();
    const audit = await fileAudit(file);
    const link = newFile();
    symlinkSync(file, link);
    await expect(fileAudit(file)).rejects.toMatchObject({ name: 'AuditError', code: 'audit-in-use' });
    await expect(fileAudit(link)).rejects.toMatchObject({ code: 'audit-in-use' });
    await audit.append(entry('x'));
    await audit.close();
    const next = await fileAudit(link);
    expect(next.records()).toBe(1);
    await next.close();
  });

  test('of many that open a log concurrently, one succeeds', async () => {
    const file = newFile();
    const opened = await Promise.allSettled(Array.from({ length: 8 }, () => fileAudit(file)));
    const winners = opened.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(winners).toHaveLength(1);
    for (const outcome of opened) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'audit-in-use' });
    }
    await winners[0]!.close();
  });

  test.each([
    ['of a process that has ended', { pid: 2 ** 30, host: hostname(), started: 0 }],
    ['of an earlier process with the same id', { pid: process.pid, host: hostname(), started: 0 }],
  ])('a lock %s is taken over', async (_name, holder) => {
    const { file } = await closedLog(1);
    writeFileSync(`${file}.lock`, JSON.stringify(holder));
    const audit = await fileAudit(file);
    expect(await audit.append(entry('x'))).toMatchObject({ seq: 2 });
    await audit.close();
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  test.each([3_600_000, -3_600_000])('a lock of this process is kept when the clock jumps by %i ms', async (jump) => {
    const { file } = await closedLog(1);
    // A thread has its own modules: it knows the locks of the other threads only by their files.
    vi.resetModules();
    const other = await import('../../../src/aacp/dispatch/index.js');
    const theirs = await other.fileAudit(file);
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: now + jump });
    try {
      await expect(fileAudit(file)).rejects.toMatchObject({ code: 'audit-in-use' });
    } finally {
      vi.useRealTimers();
    }
    expect(await theirs.append(entry('x'))).toMatchObject({ seq: 2 });
    await theirs.close();
  });

  test.each([
    ['of a process that lives', JSON.stringify({ pid: process.ppid, host: hostname(), started: 0 })],
    ['of another machine', JSON.stringify({ pid: 2 ** 30, host: 'elsewhere.example', started: 0 })],
    ['that cannot be parsed', 'x'],
    ['that is empty', ''],
  ])('a lock %s is kept', async (_name, content) => {
    const { file } = await closedLog(1);
    writeFileSync(`${file}.lock`, content);
    await expect(fileAudit(file)).rejects.toMatchObject({ code: 'audit-in-use' });
    expect(readFileSync(`${file}.lock`, 'utf8')).toBe(content);
  });
});

describe('a chain does not fork: a record is rejected', () => {
  test.each<[string, (file: string) => void]>([
    ['when the lock was removed', (file) => rmSync(`${file}.lock`)],
    ['when the lock is somebody else\u2019s', (file) => writeFileSync(`${file}.lock`, '{}')],
    ['when somebody has appended', (file) => appendFileSync(file, 'x\n')],
    ['when the end was cut off', (file) => truncateSync(file, 10)],
    ['when the file was removed', (file) => rmSync(file)],
    [
      'when it was replaced by another file',
      (file) => {
        renameSync(file, `${file}.old`);
        writeFileSync(file, readFileSync(`${file}.old`));
      },
    ],
  ])('%s', async (_name, meddle) => {
    const file = newFile();
    const audit = await fileAudit(file);
    await audit.append(entry('packet 1'));
    meddle(file);
    const after = existsSync(file) ? readFileSync(file) : null;
    await expect(audit.append(entry('packet 2'))).rejects.toMatchObject({ name: 'AuditError', code: 'audit-lost' });
    await expect(audit.append(entry('packet 3'))).rejects.toMatchObject({ code: 'audit-lost' });
    await audit.close();
    expect(existsSync(file) ? readFileSync(file) : null).toEqual(after);
  });
});

describe('invalid arguments:', () => {
  test.each<[unknown, object | undefined, RegExp]>([
    ['', undefined, /^file must/],
    [5, undefined, /^file must/],
    ['x', { now: 5 }, /^now must/],
    ['x', { powerSafe: 'yes' }, /^powerSafe must/],
    ['x', { onNotice: 'me' }, /^onNotice must/],
  ])('%j with %j is a TypeError', async (file, options, message) => {
    await expect(fileAudit(file as string, options)).rejects.toThrow(TypeError);
    await expect(fileAudit(file as string, options)).rejects.toThrow(message);
  });

  test.skipIf(process.platform === 'win32')('a device that stores nothing is not a log', async () => {
    const link = newFile();
    symlinkSync('/dev/null', link);
    for (const file of ['/dev/null', link]) {
      await expect(fileAudit(file)).rejects.toMatchObject({
        code: 'audit-unavailable',
        message: `The log ${file} cannot be opened: it is not a regular file.`,
      });
    }
    expect(existsSync('/dev/null.lock')).toBe(false);
  });

  test('a folder, and a missing file, are not logs', async () => {
    const file = newFile();
    await expect(fileAudit(path.dirname(file))).rejects.toMatchObject({ code: 'audit-unavailable' });
    await expect(verifyAuditFile(file)).rejects.toMatchObject({ code: 'audit-unavailable' });
    await expect(fileAudit(path.join(file, 'deeper'))).rejects.toMatchObject({ code: 'audit-unavailable' });
  });
});

test('a process that is killed while it writes loses no acknowledged record, and its lock is taken over', async () => {
  const file = newFile();
  let acknowledged = 0;
  for (let round = 1; round <= 2; round++) {
    const child = spawn(process.execPath, ['--import', TSX, HOLD, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    for await (const line of createInterface({ input: child.stdout })) {
      if (line === 'open') {
        await expect(fileAudit(file)).rejects.toMatchObject({ code: 'audit-in-use' });
        continue;
      }
      acknowledged = Math.max(acknowledged, Number(line));
      if (acknowledged >= round * 20) child.kill('SIGKILL');
    }
    await ended;
    const audit = await fileAudit(file);
    expect(audit.records()).toBeGreaterThanOrEqual(acknowledged);
    await audit.append(entry('between'));
    await audit.close();
  }
  expect(await verifyAuditFile(file)).toMatchObject({ ok: true });
  const folder = readdirSync(path.dirname(file)).filter((name) => name.startsWith(`${path.basename(file)}.lock`));
  expect(folder).toEqual([]);
});
