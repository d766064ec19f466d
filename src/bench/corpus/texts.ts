/** Texts of the kinds that agents send: sentences, code, JSON, logs, tables, paths, mails. */
import type { Random } from '../../text/random.js';

/** The corpus exists twice, from different sentences, names and seeds: one half for tuning, the other for figures. */
export type Half = 'tuning' | 'unseen';

/** Makes a text of about `length` characters, at least one unit of its kind (a sentence, a line). */
export type MakeText = (random: Random, half: Half, length: number) => string;

const SENTENCES: readonly string[] = [
  'The refresh token is not revoked after rotation, so a stolen one stays valid for thirty days.',
  'I checked both branches: the migration is idempotent, but it holds a lock on the orders table.',
  'Please review the attached report and tell me which of the three suppliers you would drop.',
  'Revenue in the north region declined by 12%, mostly because two renewals moved to the next quarter.',
  'No objections from my side; ship it behind the flag and watch the error rate for an hour.',
  'The user asked for a refund (order 48-2210), and the policy allows it: approve it, then notify billing.',
  'Three of the five tests fail on the build machine only, which suggests a difference in the time zone.',
  'Before you book the flight, confirm that the passport is valid for six months after the return.',
  'The summary should have at most 200 words, name its sources, and avoid any claim about the cause.',
  'Queue depth went back to normal at 14:32, after the consumer was restarted; no message was lost.',
  'We agreed on two options: keep the current vendor, or pay the penalty and leave in March.',
  "It's the third time this week that the cache serves stale prices, see the incident of Tuesday.",
  'Could you translate the contract, keep the numbering of its clauses, and mark what is ambiguous?',
  'Search results are ranked by date, not by relevance, which is why the manual does not appear.',
  'The customer wrote: "Nothing arrived, and the phone is not answered". Escalate it to a person.',
  'Latency is fine up to 400 requests per second; beyond that, the pool of connections is exhausted.',
];

const FOREIGN: readonly string[] = [
  'Die Prüfung ist abgeschlossen: zwei Belege fehlen noch, der Rest stimmt mit dem Konto überein.',
  'Bitte schicken Sie das Protokoll bis Freitag, spätestens jedoch vor der nächsten Sitzung.',
  'Le rapport est prêt, mais les chiffres de février ne correspondent pas à ceux de la comptabilité.',
  'Pouvez-vous vérifier l’adresse du client avant l’envoi ? La dernière livraison est revenue.',
  'El pedido salió ayer por la mañana; llegará entre el martes y el jueves, según la aduana.',
  'Necesitamos una respuesta hoy: sin ella, el proveedor cancela la reserva de los tres equipos.',
  'Zamówienie zostało wysłane wczoraj, ale numer przesyłki jest nieprawidłowy.',
  'Proszę o sprawdzenie faktury: kwota różni się o 120 złotych od oferty.',
  'Toplantı yarına ertelendi; lütfen sunumu güncelleyip herkese gönderin.',
  'Sipariş onaylandı, ancak ödeme henüz hesaba geçmedi.',
  'Отчёт готов, но два показателя требуют проверки до пятницы.',
  'Клиент просит перенести встречу на следующую неделю, на вторник.',
  '会議は明日の午前十時に変更されました。資料を更新してください。',
  '在庫は三個だけです。入荷は来週の予定です。',
];

const NAMES: readonly string[] = [
  ...['session', 'order', 'invoice', 'ledger', 'route', 'batch', 'tenant', 'policy', 'shard', 'lease', 'vendor'],
  ...['account', 'token', 'ticket', 'region', 'worker', 'budget', 'metric', 'report', 'review', 'release'],
];

function ofHalf<T>(list: readonly T[], half: Half): readonly T[] {
  return list.filter((_, index) => index % 2 === (half === 'tuning' ? 0 : 1));
}

function nameOf(random: Random, half: Half): string {
  return random.pick(ofHalf(NAMES, half));
}

/** Adds units until the text has about the requested length. */
function filled(length: number, separator: string, unit: () => string): string {
  let text = unit();
  while (text.length + separator.length < length) text += separator + unit();
  return text;
}

export const prose: MakeText = (random, half, length) =>
  filled(length, ' ', () => random.pick(ofHalf(SENTENCES, half)));

export const foreign: MakeText = (random, half, length) => {
  // Two sentences of each language follow each other, one for each half.
  const sentence = random.pick(ofHalf(FOREIGN, half));
  return filled(length, ' ', () => sentence);
};

export const code: MakeText = (random, half, length) =>
  filled(length, '\n', () => {
    const [one, other] = [nameOf(random, half), nameOf(random, half)];
    return random.pick([
      `const ${one} = await ${other}s.find(({ id }) => id === ${random.integer(1, 999)});`,
      `if (${one}.${other} > ${random.integer(1, 60)} && !${one}.closed) {\n  throw new Error("${one} is full");\n}`,
      `def ${one}_${other}(items: list[str]) -> dict:\n    return {x: len(x) for x in items if x != "${one}"}`,
      `SELECT ${one}_id, SUM(amount) FROM ${other}s WHERE state = 'open' GROUP BY ${one}_id ORDER BY 2 DESC;`,
      `grep -rn "${one}" src/ | awk -F: '{print $1}' | sort -u > /tmp/${other}.txt`,
      `for (let i = 0; i < ${one}.length; i++) ${other}[i] = ${one}[i] | 0;`,
    ]);
  });

export const json: MakeText = (random, half, length) => {
  const items: object[] = [];
  for (let size = 0; size < length; size += JSON.stringify(items.at(-1)).length + 1) {
    items.push({
      [nameOf(random, half)]: random.integer(1, 9999),
      name: `${nameOf(random, half)} ${random.integer(1, 99)}`,
      tags: [nameOf(random, half), nameOf(random, half)],
      ok: random.next() < 0.5,
    });
  }
  return JSON.stringify(items.length === 1 ? items[0] : items);
};

export const log: MakeText = (random, half, length) =>
  filled(length, '\n', () => {
    const time = `2026-0${random.integer(1, 9)}-${random.integer(10, 28)}T0${random.integer(0, 9)}:${random.integer(10, 59)}:07.${random.integer(100, 999)}Z`;
    const [one, other] = [nameOf(random, half), nameOf(random, half)];
    return random.pick([
      `${time} INFO  [${one}] ${other} ${random.integer(100, 9999)} done in ${random.integer(2, 900)} ms`,
      `${time} WARN  [${one}] retry ${random.integer(1, 5)}/5: ECONNRESET 10.0.${random.integer(0, 9)}.${random.integer(1, 254)}:5432`,
      `${time} ERROR [${one}] unhandled ${other}: at ${one}.run (src/${one}/${other}.ts:${random.integer(10, 400)}:17)`,
    ]);
  });

export const table: MakeText = (random, half, length) => {
  const columns = [nameOf(random, half), nameOf(random, half), 'total'];
  const row = (): string =>
    `| ${nameOf(random, half)} | ${random.integer(1, 999)} | ${random.integer(1, 9999)}.${random.integer(10, 99)} |`;
  return `| ${columns.join(' | ')} |\n|---|---|---|\n${filled(length - 40, '\n', row)}`;
};

export const path: MakeText = (random, half) => {
  const [one, other] = [nameOf(random, half), nameOf(random, half)];
  return random.pick([
    `src/${one}/${other}/${one}-${other}.test.ts`,
    `C:\\Users\\${one}\\Documents\\${other}_${random.integer(1, 40)}.xlsx`,
    `/var/log/${one}/${other}.log.${random.integer(1, 9)}`,
  ]);
};

export const url: MakeText = (random, half) => {
  const [one, other] = [nameOf(random, half), nameOf(random, half)];
  return `https://api.${one}.example.com:8443/v${random.integer(1, 3)}/${other}s/${random.integer(100, 99999)}?fields=id,state&since=2026-0${random.integer(1, 9)}-01#${one}`;
};

export const mail: MakeText = (random, half, length) => {
  const [one, other] = [nameOf(random, half), nameOf(random, half)];
  const head = `From: ${one}.${other}@example.com\nTo: ${other}@example.org, ops@example.org\nSubject: Re: ${one} ${random.integer(100, 999)}`;
  return `${head}\n\n${prose(random, half, length - head.length)}`;
};
