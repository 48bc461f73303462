import { type ConfigProblem, type FailureData, signingAdvice } from "../../domain/failure.ts";
import { storeTrouble } from "../../domain/store-trouble.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import { filterSentence } from "../../domain/trust/filters.ts";
import type { Description } from "./description.ts";
import { exits } from "./exits.ts";

/** Words, exit code and next command for what keeps the program from working; exhaustive like the table of refusals. */
export function describeFailure(failure: FailureData): Description {
  const { kind, ...data } = failure;
  const details = { kind, ...data };
  switch (failure.kind) {
    case "not-initialised":
      return {
        ...setup("CONFIG_ERROR"),
        message: `${failure.root} is not an Overstory project: it has no .overstory/config.yaml; nothing was changed`,
        hint: "set it up with: ov init",
        details: { ...details, configPath: `${failure.root}/.overstory/config.yaml`, field: null },
      };
    case "nested-repository":
      return {
        ...setup("CONFIG_ERROR"),
        message: `${failure.root} is a git repository of its own inside the project ${failure.outer}, and is not an Overstory project; nothing was changed`,
        hint: `for the project around it: ov status --project ${failure.outer}; to set this one up: ov init`,
        details: { ...details, configPath: `${failure.root}/.overstory/config.yaml`, field: null },
      };
    case "config-invalid":
      return {
        ...setup("CONFIG_ERROR"),
        ...unusableSettings(failure),
        details: { ...details, configPath: failure.path, field: failure.problems[0]?.field ?? null },
      };
    case "no-such-directory":
      return {
        ...setup("CONFIG_ERROR"),
        message: `${failure.path} ${failure.isFile ? "is a file, not a directory" : "does not exist"}; nothing was changed`,
        hint: "name a directory of your project: ov status --project <dir>",
        details,
      };
    case "not-a-git-repository":
      return {
        ...setup("WORKTREE_ERROR"),
        message: `${failure.path} is not inside a git repository; nothing was changed`,
        hint: "go to your repository, or make one here: git init && ov init",
        details: { ...details, worktreePath: failure.path, branchName: null },
      };
    case "inside-git-directory":
      return {
        ...setup("WORKTREE_ERROR"),
        message: `${failure.path} is inside the git directory of a repository, not in its files; nothing was changed`,
        hint: "go to the top of the checkout, and type it there: ov init",
        details: { ...details, worktreePath: failure.path, branchName: null },
      };
    case "line-break-in-path":
      return {
        ...setup("WORKTREE_ERROR"),
        message: `the path of the repository holds a line break, which git cannot name in its answers: ${JSON.stringify(failure.path)}; nothing was changed`,
        hint: "rename that directory, and type it again: ov init",
        details: { ...details, worktreePath: failure.path, branchName: null },
      };
    case "bare-repository":
      return {
        ...setup("WORKTREE_ERROR"),
        message: `${failure.path} is in a bare repository: nothing is checked out there that agents could work on; nothing was changed`,
        hint:
          failure.checkout === undefined
            ? "check a branch out and set the project up there: git worktree add ../main main && cd ../main && ov init"
            : `set the project up where a branch is checked out: cd ${shellWord(failure.checkout)} && ov init`,
        details: { ...details, worktreePath: failure.path, branchName: null },
      };
    case "repository-unusable":
      return {
        ...setup("WORKTREE_ERROR"),
        message: `git cannot use the repository at ${failure.path}: ${failure.problem}; nothing was changed`,
        hint:
          failure.advice === null
            ? `see what git says: git -C ${shellWord(failure.path)} status`
            : `if you trust its owner: ${failure.advice}`,
        details: { ...details, worktreePath: failure.path, branchName: null },
      };
    case "project-copied":
      return {
        ...setup("CONFIG_ERROR"),
        message: `${failure.root} is a copy of the project ${failure.original}, whose agents and processes are not its own; nothing was changed`,
        hint: "to use the copy on its own, with its agents stopped: ov init",
        details,
      };
    case "store-lost":
    case "store-corrupt":
    case "store-too-new":
    case "store-read-only": {
      const { says, next } = storeTrouble(failure);
      return { ...setup("STORE_ERROR"), message: `${says}; nothing was changed`, hint: next, details };
    }
    case "store-busy": {
      const { says, next } = storeTrouble(failure);
      const busy = { code: "BUSY_ERROR", exit: exits.busy, retryable: true } as const;
      return { ...busy, message: `${says}; nothing was changed`, hint: next, details };
    }
    case "store-index-lost": {
      const files = failure.files.join(" and ");
      const pids = failure.holders.join(" ");
      const still = `process${failure.holders.length === 1 ? "" : "es"} ${failure.holders.join(", ")}`;
      return {
        code: "BUSY_ERROR",
        exit: exits.busy,
        retryable: true,
        message:
          failure.holders.length === 0
            ? `another program has replaced ${files} while this command had the store open; nothing more was written`
            : `somebody deleted ${files} while ${still} had the store open; nothing was changed, because the changes of one would overwrite those of the other`,
        hint:
          failure.holders.length === 0
            ? "see what is stored now: ov status"
            : `let it go on, or end it, then try again: kill -CONT ${pids}; kill ${pids}`,
        details,
      };
    }
    case "no-access":
      return {
        code: "PERMISSION_ERROR",
        exit: exits.permission,
        retryable: false,
        message: `this user may not use ${failure.path ?? "a file of the project"}: ${failure.problem}`,
        // A file that may not be made does not exist yet; then its directory tells its owner.
        hint: `see who owns it, perhaps root after one sudo: ls -ld ${withDirectory(failure.path ?? ".")}; then look again: ov status`,
        details,
      };
    case "unusable-file":
      return {
        ...setup("CONFIG_ERROR"),
        message: `${failure.path} cannot be read: ${failure.problem}, where a file belongs; nothing was changed`,
        hint: `look at it, put it aside, and try the same command again: ls -l ${failure.path}`,
        details,
      };
    case "not-a-directory":
      return {
        ...setup("CONFIG_ERROR"),
        message: `${failure.path} must be a directory, but something else has that name; nothing was changed`,
        hint: `look at it, put it aside, and try the same command again: ls -ld ${shellWord(failure.path)}`,
        details,
      };
    case "program-missing":
      return {
        ...setup("CONFIG_ERROR"),
        message: `there is no program "${failure.program}" on PATH or where systems have it; nothing was changed`,
        hint: `install it, and make sure that this shell runs: ${failure.program} --version`,
        details: { ...details, configPath: null, field: null },
      };
    case "disk-full":
      return {
        code: "BUSY_ERROR",
        exit: exits.busy,
        retryable: true,
        message: `${failure.path === null ? "the disk" : `the disk that holds ${failure.path}`} is full; nothing was changed`,
        hint: "make room, then try the same command again; agents at work wait for it by themselves",
        details,
      };
    case "signing-failed":
      return {
        ...setup("CONFIG_ERROR"),
        message: `the commit could not be signed: ${failure.problem}; nothing was changed`,
        hint: signingAdvice,
        details: { ...details, configPath: null, field: "commit.gpgSign" },
      };
    case "worktree-damaged":
      return {
        ...setup("WORKTREE_ERROR"),
        message: `git cannot read the worktree ${failure.path}: ${failure.problem}; it was left as it is`,
        hint: `see what is damaged: git -C ${shellWord(failure.path)} fsck`,
        details: { ...details, worktreePath: failure.path, branchName: null },
      };
    case "filters-not-ready":
      return {
        ...setup("CONFIG_ERROR"),
        message: `files of this repository cannot be checked out as git would; nothing was changed\n${failure.filters.map((filter) => `  ${filterSentence(filter)}`).join("\n")}`,
        hint: "see all of them and what they run: ov trust list",
        details: { ...details, configPath: null, field: null },
      };
    case "commit-refused":
      return {
        ...setup("WORKTREE_ERROR"),
        message: `the commit ${failure.commit.slice(0, 12)} is refused: ${failure.problem}`,
        hint: "nothing was checked out for gates and nothing landed; see what is damaged: git fsck",
        details: { ...details, worktreePath: null, branchName: null },
      };
    case "engine-unreachable":
      return {
        code: "ENGINE_ERROR",
        exit: exits.busy,
        retryable: true,
        message: `the engine cannot be reached: ${failure.problem}`,
        hint: failure.next ?? "try again, or look from outside the agent: ov status",
        details,
      };
    case "unexpected":
      return {
        code: "INTERNAL_ERROR",
        exit: exits.unexpected,
        retryable: false,
        message: failure.problem === "" ? "something failed without saying why" : failure.problem,
        hint: "run the same command with --verbose to see where it happened",
        details,
      };
  }
}

const setup = <C extends Description["code"]>(code: C) => ({ code, exit: exits.setup, retryable: false }) as const;

/** Names the file that is to be mended; where only the environment is wrong, the variables. */
function unusableSettings({ path, problems }: Extract<FailureData, { readonly kind: "config-invalid" }>) {
  const isVariable = ({ file }: ConfigProblem): boolean => file !== undefined && !file.startsWith("/");
  const variables = [...new Set(problems.filter(isVariable).map(({ file }) => file ?? ""))];
  const onlyVariables = problems.length > 0 && problems.every(isVariable);
  const what = onlyVariables ? `the environment variable ${variables.join(", ")}` : path;
  const lines = problems.map((problem) => problemLine(onlyVariables ? (problem.file ?? path) : path, problem));
  return {
    message: `${what} cannot be used; nothing was changed\n${lines.join("\n")}`,
    hint: onlyVariables
      ? `give it another value, or do without: unset ${variables.join(" ")}`
      : "mend the file, then look again: ov config validate",
  };
}

function problemLine(path: string, { field, problem, file, line, column }: ConfigProblem): string {
  const elsewhere = file === undefined || file === path ? [] : [file];
  const where = [
    ...elsewhere,
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(column === undefined ? [] : [`column ${column}`]),
  ].join(", ");
  // A file that is no YAML at all has no field to blame.
  const what = field === "" ? problem : `${field} ${problem}`;
  return `  ${what}${where === "" ? "" : ` (${where})`}`;
}

function withDirectory(path: string): string {
  const end = path.lastIndexOf("/");
  return end <= 0 ? shellWord(path) : `${shellWord(path.slice(0, end))} ${shellWord(path)}`;
}
