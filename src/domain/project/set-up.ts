import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";

export interface NameFacts {
  readonly typed: string | undefined;
  /** Address of the remote `origin`, as git has it. */
  readonly originUrl: string | undefined;
  readonly directory: string;
}

/** What a project is called: as typed, else like its repository at `origin`, else like its directory. */
export function projectName({ typed, originUrl, directory }: NameFacts): Result<string, InvalidInput> {
  if (typed === undefined) return ok(repositoryName(originUrl) ?? oneLine(directory) ?? "project");
  if (typed.trim() === "") return no(invalid("name", "must not be empty"));
  if (/\p{Cc}/u.test(typed)) {
    return no(invalid("name", "must be one line without control characters", { value: typed }));
  }
  return ok(typed.trim());
}

/** The last part of any address git understands: https, ssh, `host:path`, a path of either kind of system. */
function repositoryName(url: string | undefined): string | undefined {
  const last = url
    ?.replace(/[/\\]+$/, "")
    .replace(/[/\\:]\.git$/, "")
    .split(/[/\\:]/)
    .at(-1);
  return last === undefined ? undefined : oneLine(last.replace(/\.git$/, ""));
}

function oneLine(text: string): string | undefined {
  const shown = text.replaceAll(/\p{Cc}+/gu, "-").trim();
  return shown === "" ? undefined : shown;
}

/** A file of ours that git should know. */
export interface OwnPath {
  readonly path: string;
  /** Others write into the file too, so their changes are not ours to commit. */
  readonly mixed: boolean;
}

export interface CommitFacts {
  readonly own: readonly OwnPath[];
  /** Which of them held something uncommitted before we wrote to them. */
  readonly uncommitted: readonly { readonly path: string; readonly tracked: boolean }[];
  /** Which of them git is told to ignore. */
  readonly ignored: readonly string[];
}

interface CommitPlan {
  readonly paths: readonly string[];
  /** Files with changes of their author's that are not committed yet. */
  readonly theirs: readonly string[];
  readonly ignored: readonly string[];
}

/**
 * What a set-up may commit: its own files, but none that would take along work a person has not committed. An untracked
 * file that is ours alone is left from a set-up that was cut short.
 */
export function planCommit({ own, uncommitted, ignored }: CommitFacts): CommitPlan {
  const isTheirs = ({ path, mixed }: OwnPath): boolean =>
    uncommitted.some((file) => file.path === path && (file.tracked || mixed));
  const known = own.filter(({ path }) => !ignored.includes(path));
  return {
    paths: known.filter((file) => !isTheirs(file)).map(({ path }) => path),
    theirs: known.filter(isTheirs).map(({ path }) => path),
    ignored: own.filter(({ path }) => ignored.includes(path)).map(({ path }) => path),
  };
}

/** How a user tells git who commits. */
export const tellIdentity =
  'tell git your name and address: git config --global user.name "<your name>" && git config --global user.email <you@example.org>';
