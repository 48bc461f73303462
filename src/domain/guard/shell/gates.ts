import { writesWhereTold } from "../writing-programs.ts";
import type { ParseShell, ShellAssignment, ShellCommand, ShellNode, ShellWord } from "./syntax.ts";

/** The commands of the quality gates, as they are recognised inside of what an agent runs. */
export interface GateCommands {
  /** What follows one of them that begins these words, with the variables that it has there; undefined for anything else. */
  behind(words: readonly ShellWord[], assignments: readonly ShellAssignment[]): readonly ShellWord[] | undefined;
  /** Exactly one of them, with what is run to make its words. */
  has(command: ShellCommand): boolean;
}

/** Reads the command lines of gates. What is no shell is the command of no gate. */
export function readGates(gates: readonly string[], parse: ParseShell): GateCommands {
  const known = gates.flatMap((gate) => commandsOf(parse(gate) ?? []));
  const plain = known.filter(isPlain);
  const made = new Set(known.filter((each) => !isPlain(each) && !dependsOnOthers(each)).map(written));
  return {
    behind: (words, assignments) => {
      const begun = plain.filter((gate) => isBeginning(gate, words, assignments));
      return begun.length === 0 ? undefined : words.slice(Math.max(...begun.map((gate) => gate.words.length)));
    },
    has: (command) => made.has(written(command)),
  };
}

function commandsOf(nodes: readonly ShellNode[]): readonly ShellCommand[] {
  return nodes.flatMap((node) => (node.kind === "group" ? commandsOf(node.nodes) : [node])).filter(isProgram);
}

/** The directory it changes to must be known to the reader of the rest. */
const isProgram = ({ words }: ShellCommand): boolean =>
  words.length > 0 && !["cd", "pushd", "popd"].includes(words[0]?.text ?? "");

const isPlain = ({ words, assignments }: ShellCommand): boolean =>
  words.every(isLiteral) && assignments.every(({ value }) => isLiteral(value));

const isLiteral = ({ dynamic }: ShellWord): boolean => !dynamic;

const written = ({ words, assignments, inner }: ShellCommand): string => JSON.stringify([words, assignments, inner]);

/** A variable may have been given another value by the process that runs it. */
const dependsOnOthers = (command: ShellCommand): boolean => /\$[\w{@*#?!$-]/.test(written(command));

function isBeginning(
  gate: ShellCommand,
  words: readonly ShellWord[],
  assignments: readonly ShellAssignment[],
): boolean {
  const begins = gate.words.every(({ text }, at) => words[at]?.text === text && words[at]?.dynamic === false);
  const [program] = gate.words;
  const fits = words.length === gate.words.length || !writesWhereTold(program?.text ?? "");
  return (
    begins &&
    fits &&
    assignments.every((each) => onlyPrints.test(each.name) || isForTests(each) || gate.assignments.some(same(each)))
  );
}

/** Variables that tell how and where to print. */
export const onlyPrints =
  /^(CI|DEBUG|VERBOSE|LOG_?LEVEL|NO_COLOR|FORCE_COLOR|CLICOLOR(_FORCE)?|TERM|COLUMNS|LINES|LANG|LC_\w+|TZ|RUST_(BACKTRACE|LOG)|PYTHON(UNBUFFERED|DONTWRITEBYTECODE))$/;

/** Says that tests are run. Any other value may lead a program to data that is not for tests. */
export const isForTests = ({ name, value }: ShellAssignment): boolean =>
  /^(NODE|BABEL|RAILS|RACK|APP|MIX|GO)_ENV$/.test(name) && !value.dynamic && /^(test|testing|ci)$/.test(value.text);

/** Variables in small letters are read by nothing but the line itself, and by npm. */
export const isOfLine = /^(?!npm_)[a-z_][a-z\d_]*$/;

const same =
  (one: ShellAssignment) =>
  (other: ShellAssignment): boolean =>
    one.name === other.name && one.value.text === other.value.text && one.value.dynamic === other.value.dynamic;
