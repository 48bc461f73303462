import type { ShellWord } from "./shell/syntax.ts";

/** How a program is told in which part of a project it works. */
interface PartOptions {
  readonly flags: RegExp;
  /** Options with the name of a part or a directory. */
  readonly values: readonly string[];
  /** Behind its first word the options belong to what it runs. */
  readonly before?: true;
}

const none = /^$/;

const parts: Readonly<Record<string, PartOptions>> = {
  npm: { flags: /^(-ws|--workspaces|--if-present)$/, values: ["-w", "--workspace", "--prefix", "-C"] },
  pnpm: {
    flags: /^(-r|--recursive|-w|--workspace-root|--stream|--parallel|--no-bail|--if-present|-s|--silent)$/,
    values: ["--filter", "-F", "-C", "--dir"],
    before: true,
  },
  yarn: { flags: none, values: ["--cwd"], before: true },
  bun: { flags: /^--silent$/, values: ["--filter", "-F", "--cwd"], before: true },
  make: { flags: /^(-[sk]|-j\d*|--no-print-directory|--silent)$/, values: ["-C", "--directory"] },
  cargo: { flags: none, values: ["--manifest-path"] },
  uv: { flags: /^(-q|--(quiet|frozen|locked|no-sync|offline|dev|all-extras|all-groups))$/, values: [], before: true },
};

/**
 * The words of a call without those that say in which part of the project it is made. Undefined: a part lies somewhere else.
 */
export function withoutPart(
  name: string,
  args: readonly ShellWord[],
  isTreeFile: (word: ShellWord) => boolean,
): readonly ShellWord[] | undefined {
  const known = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (known === undefined) return args;
  const kept: ShellWord[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === undefined) break;
    const { text } = word;
    const isOver = text === "--" || (known.before === true && !text.startsWith("-") && !leadsOn.test(text));
    if (isOver) return [...kept, ...args.slice(at)];
    const option = known.values.find((each) => text === each || text.startsWith(`${each}=`));
    if (option !== undefined) {
      const part = text === option ? args[++at] : { ...word, text: text.slice(option.length + 1) };
      if (part === undefined || !isPart(part, isTreeFile)) return undefined;
    } else if (name === "yarn" && text === "workspace" && kept.length === 0) at++;
    else if (!known.flags.test(text)) kept.push(word);
  }
  return kept;
}

/** Words in front of the name of a script or a program. */
const leadsOn = /^(run|exec|workspace)$/;

/** A name may have that of its owner in front. */
const isPart = (word: ShellWord, isTreeFile: (word: ShellWord) => boolean): boolean =>
  !word.text.startsWith("-") && isTreeFile({ ...word, text: word.text.replace(/^@/, "") });
