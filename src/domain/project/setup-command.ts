import { simpleCommands } from "../gate/simple-commands.ts";
import { makefileNames, type ProjectTexts } from "./gates.ts";
import { field, type Manager, managerOf, parsed } from "./node-checks.ts";

/** A command that installs what the gates need, with the file that it follows. */
export interface SetupCommand {
  readonly command: string;
  readonly from: string;
}

interface Question {
  readonly texts: ProjectTexts;
  /** The commands of the gates. */
  readonly gates: readonly string[];
  /** Whether a program is on PATH. */
  has(program: string): boolean;
}

/** Files that decide about the setup command, besides the files that decide about gates. */
export const setupFiles: readonly string[] = [".yarnrc.yml"];

/**
 * The value that the lock files, or else `package.json`, propose for `merge.setup`. Undefined unless the gates run tools
 * of that language and the installed files are kept between gates (`node_modules`, `.venv`). Cargo and Go fetch missing dependencies by
 * themselves, into a directory outside of the checkout.
 */
export function setupCommand(question: Question): SetupCommand | undefined {
  const found = [nodeSetup(question), pythonSetup(question)].filter((one) => one !== undefined);
  if (found.length === 0) return undefined;
  return {
    command: found.map(({ command }) => command).join(" && "),
    from: found.map(({ from }) => from).join(", "),
  };
}

const nodeLocks: Readonly<Record<Manager, readonly string[]>> = {
  npm: ["package-lock.json", "npm-shrinkwrap.json"],
  pnpm: ["pnpm-lock.yaml"],
  yarn: ["yarn.lock"],
  bun: ["bun.lock", "bun.lockb"],
};

function nodeSetup({ texts, gates, has }: Question): SetupCommand | undefined {
  const manifest = parsed(texts.get("package.json"));
  const manager = managerOf(manifest, texts);
  const lock = nodeLocks[manager].find((file) => texts.has(file));
  if (!has(manager) || !hasDependencies(manifest) || !gatesUse({ texts, gates }, nodePrograms)) return undefined;
  const command =
    manager === "yarn" ? yarnInstall(texts, lock) : installs[manager][lock === undefined ? "unlocked" : "locked"];
  return command === undefined ? undefined : { command, from: lock ?? "package.json" };
}

const nodePrograms = new Set("npm npx pnpm pnpx yarn bun bunx node tsc eslint jest vitest".split(" "));

/** Without a lock file the newest versions that fit are installed, and none is written. */
const installs: Readonly<Record<Exclude<Manager, "yarn">, { readonly locked: string; readonly unlocked: string }>> = {
  npm: { locked: "npm ci", unlocked: "npm install --no-package-lock" },
  pnpm: { locked: "pnpm install --frozen-lockfile", unlocked: "pnpm install --no-lockfile" },
  bun: { locked: "bun install --frozen-lockfile", unlocked: "bun install --no-save" },
};

/**
 * Yarn 2 and later install into `node_modules` only if the settings say so. Their other layouts are not kept between
 * gates. Only the lock file tells the version of Yarn, so without a lock file no command is proposed.
 */
function yarnInstall(texts: ProjectTexts, lock: string | undefined): string | undefined {
  if (lock === undefined) return undefined;
  if (texts.get("yarn.lock")?.includes("yarn lockfile v1") === true) return "yarn install --frozen-lockfile";
  const settings = texts.get(".yarnrc.yml") ?? "";
  return /^nodeLinker:\s*["']?node-modules/m.test(settings) ? "yarn install --immutable" : undefined;
}

const dependencyFields = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "workspaces"];

const hasDependencies = (manifest: unknown): boolean =>
  dependencyFields.some((name) => {
    const given = field(manifest, name);
    return typeof given === "object" && given !== null && Object.keys(given).length > 0;
  });

const pythonLocks: readonly (readonly [file: string, program: string, command: string])[] = [
  ["uv.lock", "uv", "uv sync --frozen"],
  // Only a `.venv` in the checkout is kept between gates.
  ["poetry.lock", "poetry", "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction"],
];

function pythonSetup({ texts, gates, has }: Question): SetupCommand | undefined {
  const lock = pythonLocks.find(([file, program]) => texts.has(file) && has(program));
  if (lock === undefined || !gatesUse({ texts, gates }, new Set([lock[1]]))) return undefined;
  return { command: lock[2], from: lock[0] };
}

/** Does a gate run one of the programs, itself or through the makefile? */
function gatesUse({ texts, gates }: Pick<Question, "texts" | "gates">, programs: ReadonlySet<string>): boolean {
  const makefile = texts.get(makefileNames.find((name) => texts.has(name)) ?? "") ?? "";
  const lines = gates.flatMap((gate) => (/^\s*make\b/.test(gate) ? [gate, makefile] : [gate]));
  return lines.some((line) => simpleCommands(line).some((words) => words.some((word) => programs.has(word))));
}
