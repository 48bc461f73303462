import { guardClasses } from "./guard-cases.ts";
import { guardCorpus } from "./guard-corpus.ts";

/** Random commands, the same for the same seed: some made of pieces, some that were once a case of the guard. */
export function* fuzzCommands(seed: number, count: number): Generator<string> {
  const known = [
    ...guardCorpus.flatMap(({ denied, allowed }) => [...denied, ...allowed]),
    ...guardClasses().flatMap(({ cases }) => cases.map(({ command }) => command)),
  ];
  const random = randomFrom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const made = (): string =>
    Array.from({ length: 1 + Math.floor(random() * 14) }, () => pick(pieces)).join(pick(["", " "]));
  const changed = (text: string): string => {
    const at = Math.floor(random() * (text.length + 1));
    const end = Math.min(text.length, at + 1 + Math.floor(random() * 6));
    switch (Math.floor(random() * 7)) {
      case 0:
        return text.slice(0, at) + text.slice(end);
      case 1:
        return text.slice(0, at) + pick(pieces) + text.slice(at);
      case 2:
        return text.slice(0, at) + text.slice(at, end).repeat(2) + text.slice(end);
      case 3:
        return `${text}${pick(joints)}${pick(known)}`;
      case 4:
        return pick(wrappings)(text);
      case 5:
        return (
          text.slice(0, at) +
          String.fromCodePoint(Math.floor(random() * (random() < 0.8 ? 128 : 0xd7ff))) +
          text.slice(at)
        );
      default:
        return text.slice(0, at) + pick(known).slice(Math.floor(random() * 10));
    }
  };
  for (let left = count; left > 0; left--) {
    let text = random() < 0.2 ? made() : pick(known);
    for (let times = 1 + Math.floor(random() * 4); times > 0; times--) text = changed(text);
    yield text.slice(0, 4_000);
  }
}

const pieces: readonly string[] =
  `git push rm -rf / ~ .. . * ? [ ] { } ( ) (( )) $( $(( \${ } \` ' " \\ ; & && | || < > >> << <<< <( \n \t
  cd /etc ov sling env -i -u OVERSTORY_TOKEN= sh -c eval exec xargs find -exec {} \\; + -delete for i in do done while true if
  then fi case esac a) ;; function f() { } [[ ]] = == != -eq $x \${x:-y} \${!x} $1 $@ $? EOF <<EOF <<-'EOF' 2>&1 >&2 &> >| coproc
  time ! sed -i s/a/b/e w awk '{print>"x"}' tee dd of= tar -C tmux new sudo su npx -c uv run sqlite3 ov-state claude chmod -x`
    .split(/ +|(?<=\n) */)
    .concat(["\n", " ", "\t", "\0", "\u{1F600}", "é", "\r\n", "\\\n"]);

const joints = ["; ", " && ", " || ", " | ", " & ", "\n", " > ", " < <(", " $(", ") "];

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const wrappings: readonly ((text: string) => string)[] = [
  (text) => `sh -c ${quoted(text)}`,
  (text) => `(${text})`,
  (text) => `{ ${text}; }`,
  (text) => `$(${text})`,
  (text) => `"${text}"`,
  (text) => `if ${text}; then ${text}; fi`,
  (text) => `while ${text}; do cd ..; done`,
  (text) => `f() { ${text}; f; }; f`,
  (text) => `case x in x) ${text};; esac`,
  (text) => `cat <<EOF\n${text}\nEOF`,
  (text) => `tmux send-keys ${quoted(text)} Enter`,
  (text) => `mywrapper -c ${quoted(text)}`,
  (text) => `eval ${quoted(text)}`,
];

/** Numbers from 0 to 1 by the generator mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
