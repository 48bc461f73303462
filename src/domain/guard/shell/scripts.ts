import { hasOption, operands } from "./options.ts";
import { literal, type ShellWord } from "./tree.ts";

/** Commands inside a word. */
interface Script {
  readonly text: string;
}

const shells = ["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"];

/**
 * The text that a program would read as shell commands: of `sh -c`, `eval` and their like. `opaque`: it would read some,
 * but they cannot be seen here. Undefined: it reads none from its words.
 */
export function scriptOf(name: string, args: readonly ShellWord[]): Script | "opaque" | undefined {
  if (shells.includes(name)) return ofShell(args);
  if (name === "eval") return joinedLiteral(args.filter(({ text }) => text !== "--"));
  if (name === "trap") {
    const [action] = operands(args);
    return action === undefined || action.text === "-" ? undefined : joinedLiteral([action]);
  }
  // Called for the lines that are read, with words nobody knows.
  if (["mapfile", "readarray"].includes(name)) return hasOption(args, "C") ? "opaque" : undefined;
  if (name === "watch") return joinedLiteral(args.filter(({ text }) => !/^(-[a-zA-Z]+|[\d.]+)$/.test(text)));
  return undefined;
}

const shellValues = ["-o", "+o", "-O", "+O"];
const asksAboutItself = ["--version", "--help"];

function ofShell(args: readonly ShellWord[]): Script | "opaque" | undefined {
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === undefined || word.dynamic) return "opaque";
    const { text } = word;
    if (asksAboutItself.includes(text)) return { text: "" };
    if (/^--(rcfile|init-file)/.test(text)) return "opaque";
    if (/^-[A-Za-z]*c[A-Za-z]*$/.test(text)) {
      const script = args.slice(at + 1).find((next) => !/^[-+]/.test(next.text));
      return script === undefined || script.dynamic ? "opaque" : { text: script.text };
    }
    if (/^-[A-Za-z]*s[A-Za-z]*$/.test(text) || text === "-") return "opaque";
    if (shellValues.includes(text)) at++;
    // A script in a file is a program like any other.
    else if (!/^[-+]/.test(text)) return undefined;
  }
  return "opaque";
}

function joinedLiteral(words: readonly ShellWord[]): Script | "opaque" {
  return words.some(({ dynamic }) => dynamic) ? "opaque" : { text: words.map(({ text }) => text).join(" ") };
}

const execOptions = ["-exec", "-execdir", "-ok", "-okdir"];

/** The commands that `find` would run for each file it finds, with the places it looks in instead of the file. */
export function execsOf(name: string, args: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  if (name !== "find") return [];
  const roots = findRoots(args);
  return args.flatMap((word, at) => {
    if (!execOptions.includes(word.text)) return [];
    const rest = args.slice(at + 1);
    const end = rest.findIndex(({ text }) => text === ";" || text === "+");
    const words = end < 0 ? rest : rest.slice(0, end);
    return [words.flatMap((each) => (each.text.includes("{}") ? roots : [each]))];
  });
}

/** Where `find` looks. */
export function findRoots(args: readonly ShellWord[]): readonly ShellWord[] {
  const start = args.findIndex(({ text, dynamic }) => !dynamic && /^(-[^HLPDO]|[!(])/.test(text));
  const roots = (start < 0 ? args : args.slice(0, start)).filter(({ text }) => !/^-[HLPDO]/.test(text));
  return roots.length === 0 ? [literal(".")] : roots;
}
