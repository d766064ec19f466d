import { UsageError } from '../io/errors.js';
import { type Command, type CommandEntry, defineCommand, GLOBAL_OPTIONS, type Invocation } from '../options/command.js';
import { alternatives, type Option } from '../options/option.js';
import { PROTOCOLS } from '../protocols.js';

/** A place in the command line, and what can follow. */
interface Place {
  /** The words before it: none, a command, or a group and a command. */
  readonly path: readonly string[];
  readonly words: readonly (readonly [word: string, summary: string])[];
  readonly options: Readonly<Record<string, Option<unknown>>>;
  readonly takesFiles: boolean;
}

const SHELLS: Readonly<Record<string, (places: readonly Place[]) => string>> = { bash, zsh, fish };
const NAMES = Object.keys(SHELLS);

export const command = defineCommand({
  takes: { words: alternatives(NAMES).replace(/, | or /g, '|') },
  options: {},
  details:
    'Completes commands, options, their values, and files. For bash: source <(pegwire completion bash). For zsh: write the output to a ' +
    'file _pegwire in a folder of $fpath. For fish: write it to ~/.config/fish/completions/pegwire.fish.',
  example: 'pegwire completion fish > ~/.config/fish/completions/pegwire.fish',
  run: async ({ words, output, commands }) => {
    const [shell = '', ...others] = words;
    if (!Object.hasOwn(SHELLS, shell) || others.length > 0)
      throw new UsageError(`completion requires the name of a shell: ${alternatives(NAMES)}`);
    await output.result(SHELLS[shell]!(await places(commands)));
    return 0;
  },
});

async function places(all: Invocation['commands']): Promise<readonly Place[]> {
  const found: Place[] = [];
  const listed = (commands: readonly Pick<CommandEntry, 'name' | 'summary'>[]): Place['words'] =>
    commands.map(({ name, summary }) => [name, summary] as const);
  const addCommand = async (entry: CommandEntry, path: readonly string[]): Promise<void> => {
    const { command } = await entry.load();
    found.push({
      path: [...path, entry.name],
      words: wordsOf(command),
      options: { ...command.options, ...GLOBAL_OPTIONS },
      takesFiles: takesFiles(command),
    });
  };
  found.push({ path: [], words: listed(all), options: GLOBAL_OPTIONS, takesFiles: false });
  for (const entry of all) {
    if (!('commands' in entry)) await addCommand(entry, []);
    else {
      found.push({ path: [entry.name], words: listed(entry.commands), options: GLOBAL_OPTIONS, takesFiles: false });
      for (const inner of entry.commands) await addCommand(inner, [entry.name]);
    }
  }
  return found;
}

function wordsOf({ takes, protocols }: Command): Place['words'] {
  if (typeof takes === 'object')
    return /^[a-z|]+$/.test(takes.words) ? takes.words.split('|').map((word) => [word, '']) : [];
  if (takes === 'nothing' || takes === 'file') return [];
  const names = protocols ?? PROTOCOLS.map(({ name }) => name);
  return names.map((name) => [name, `The protocol ${name.toUpperCase()}`]);
}

function takesFiles(command: Command): boolean {
  const { takes } = command;
  if (typeof takes === 'object') return wordsOf(command).length === 0;
  return takes === 'messages' || takes === 'files' || takes === 'file' || takes === 'grammar';
}

/** The longest summary of an option in a list. */
const MAX_SUMMARY = 80;

function summaryOf({ description }: Option<unknown>): string {
  return description.length > MAX_SUMMARY ? `${description.slice(0, MAX_SUMMARY - 3)}...` : description;
}

/** Quotes a text for all three shells. */
function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '')}'`;
}

/** Returns the lines that find the place: the words so far, of which each command or group is a part of the path. */
function pathLines(all: readonly Place[], words: string): string[] {
  const paths = all.filter(({ path }) => path.length > 0).map(({ path }) => `" ${path.join(' ')}"`);
  return [
    `  for word in ${words}; do`,
    '    case "$place $word" in',
    `      ${paths.join('|')}) place="$place $word" ;;`,
    '    esac',
    '  done',
  ];
}

function valuesOf({ options }: Place): readonly (readonly [option: string, choices: readonly string[]])[] {
  return Object.entries(options).flatMap(([name, { choices }]) =>
    choices === undefined ? [] : [[name, choices] as const],
  );
}

/** Returns the lines of two `case` statements: for what can follow in each place, and for the values of its options. */
function casesOf(
  all: readonly Place[],
  following: (place: Place) => string,
  values: (choices: readonly string[]) => string,
): string[] {
  const pattern = (...words: readonly string[]): string => `    (${quoted(['', ...words].join(' '))})`;
  return [
    '  case "$place" in',
    ...all.map((place) => `${pattern(...place.path)} ${following(place)}; files=${Number(place.takesFiles)} ;;`),
    '  esac',
    '  case "$place $before" in',
    ...all.flatMap((place) =>
      valuesOf(place).map(
        ([name, choices]) => `${pattern(...place.path, `--${name}`)} ${values(choices)}; files=0; before='' ;;`,
      ),
    ),
    '  esac',
  ];
}

function bash(all: readonly Place[]): string {
  const following = ({ words, options }: Place): string =>
    `words=${quoted([...words.map(([word]) => word), ...Object.keys(options).map((name) => `--${name}`)].join(' '))}`;
  return [
    '# The completion of pegwire for bash.',
    '_pegwire() {',
    `  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} place='' words='' word files=0`,
    ...pathLines(all, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`),
    ...casesOf(all, following, (choices) => `words=${quoted(choices.join(' '))}`),
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '  if [[ $current != -* && ( $files = 1 || $before = --* ) ]]; then COMPREPLY+=($(compgen -f -- "$current")); fi',
    '}',
    'complete -o filenames -F _pegwire pegwire',
  ].join('\n');
}

function zsh(all: readonly Place[]): string {
  const found = (items: readonly (readonly [word: string, summary: string])[]): string =>
    `found=(${items.map(([word, summary]) => quoted(`${word}:${summary}`)).join(' ')})`;
  const following = ({ words, options }: Place): string =>
    found([...words, ...Object.entries(options).map(([name, option]) => [`--${name}`, summaryOf(option)] as const)]);
  return [
    '#compdef pegwire',
    '_pegwire() {',
    `  local place='' before=\${words[CURRENT-1]} word files=0`,
    '  local -a found',
    ...pathLines(all, `"\${words[@]:1:$((CURRENT-2))}"`),
    ...casesOf(all, following, (choices) => found(choices.map((one) => [one, ''] as const))),
    "  _describe 'pegwire' found",
    '  if (( files )) || [[ $before = --* ]]; then _files; fi',
    '}',
    '_pegwire "$@"',
  ].join('\n');
}

function fish(all: readonly Place[]): string {
  const lines = all.flatMap((place) => {
    const inner = all.filter(({ path }) => path.length > 0 && path.slice(0, -1).join(' ') === place.path.join(' '));
    const seen = place.path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const others =
      inner.length === 0 ? [] : [`not __fish_seen_subcommand_from ${inner.map(({ path }) => path.at(-1)).join(' ')}`];
    const at = quoted([...seen, ...others].join('; and '));
    const words = place.words.map(([word, summary]) => `complete -c pegwire -n ${at} -a ${word} -d ${quoted(summary)}`);
    const options = Object.entries(place.options).map(([name, option]) => {
      const { short, takes, choices } = option;
      const value = choices !== undefined ? ` -x -a ${quoted(choices.join(' '))}` : takes === 'value' ? ' -r' : '';
      return `complete -c pegwire -n ${at} -l ${name}${short === undefined ? '' : ` -s ${short}`}${value} -d ${quoted(summaryOf(option))}`;
    });
    const files = place.takesFiles ? [] : [`complete -c pegwire -n ${at} -f`];
    return [...files, ...words, ...options];
  });
  return ['# The completion of pegwire for fish.', ...lines].join('\n');
}
