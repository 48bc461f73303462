import { namedByCommand } from "../gate/named-by-command.ts";
import { simpleCommands } from "../gate/simple-commands.ts";
import { field, parsed } from "./node-checks.ts";

export interface UnusableGate {
  readonly name: string;
  readonly command: string;
  readonly why: string;
}

/** The files of the project and the programs of this machine. */
interface Surroundings {
  /** Whether a program is on PATH. */
  has(program: string): boolean;
  /** The text of a file of the project; undefined when there is none. */
  read(path: string): string | undefined;
  exists(path: string): boolean;
}

type Gate = Pick<UnusableGate, "name" | "command">;

/**
 * Gates that cannot pass here with any work: version 0.11 wrote `bun test` into the configuration of every project.
 * Only certain cases count. A gate that merely fails is not unusable.
 */
export function unusableGates(gates: readonly Gate[], around: Surroundings): readonly UnusableGate[] {
  return gates.flatMap(({ name, command }) => {
    const why = missingProgram(command, around) ?? foreignBunTest(command, around) ?? missingScript(command, around);
    return why === undefined ? [] : [{ name, command, why }];
  });
}

function missingProgram(command: string, { has, exists }: Surroundings): string | undefined {
  // Only the first program is certain to run, at the root of the project. Later commands may depend on its outcome.
  const [program = ""] = simpleCommands(command)[0] ?? [];
  if (!/^[\w./+-]+$/.test(program) || shellWords.has(program)) return undefined;
  if (!program.includes("/")) return has(program) ? undefined : `there is no program ${program} on PATH`;
  return program.startsWith("/") || exists(program) ? undefined : `there is no file ${program}`;
}

const shellWords = new Set(
  "if for while until case function time test true false cd set export echo printf exec eval source command type ulimit umask trap exit return wait read".split(
    " ",
  ),
);

/** Bun's own test runner does not find the tests of another test runner. */
function foreignBunTest(command: string, { read, exists }: Surroundings): string | undefined {
  const [program, verb] = simpleCommands(command)[0] ?? [];
  if (program !== "bun" || verb !== "test") return undefined;
  if (["bun.lock", "bun.lockb", "bunfig.toml"].some(exists)) return undefined;
  return /\bbun\b/.test(read("package.json") ?? "") ? undefined : "this is no Bun project";
}

function missingScript(command: string, { read, exists }: Surroundings): string | undefined {
  const { scripts } = namedByCommand(command);
  const named = scripts.filter(
    ({ name, manifest }) =>
      !onInstall.has(name) && scripts.some((other) => other.manifest === manifest && other.name === `pre${name}`),
  );
  for (const { manifest, name } of named) {
    const text = read(manifest);
    if (field(field(parsed(text), "scripts"), name) !== undefined) continue;
    // Every manager but npm also runs installed programs and files of that name.
    const dir = manifest.slice(0, -"package.json".length);
    const installed = [`${dir}node_modules/.bin/${name}`, dir + name].some(exists);
    const isNpm = simpleCommands(command).some(([program]) => program === "npm");
    if (isNpm || !installed) return `${manifest} ${text === undefined ? "is not there" : `has no script ${name}`}`;
  }
  return undefined;
}

const onInstall = new Set(["install", "prepare"]);
