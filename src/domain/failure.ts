import { isStoreFailure, type StoreFailure, storeTrouble } from "./store-trouble.ts";
import { type FilterProblem, filterSentence } from "./trust/filters.ts";

/**
 * What keeps the whole program from working, as data: the project, its settings, its store or its engine, rather than
 * what the user asked for (that is a `Refusal`). Surfaces word each kind in `surfaces/shared/failures.ts`.
 */
export type FailureData =
  | { readonly kind: "not-initialised"; readonly root: string }
  | { readonly kind: "nested-repository"; readonly root: string; readonly outer: string }
  | { readonly kind: "config-invalid"; readonly path: string; readonly problems: readonly ConfigProblem[] }
  | { readonly kind: "no-such-directory"; readonly path: string; readonly isFile: boolean }
  | { readonly kind: "not-a-git-repository"; readonly path: string }
  | { readonly kind: "inside-git-directory"; readonly path: string }
  | { readonly kind: "line-break-in-path"; readonly path: string }
  /** `checkout`: one of its worktrees, where there is one. */
  | { readonly kind: "bare-repository"; readonly path: string; readonly checkout?: string }
  | {
      readonly kind: "repository-unusable";
      readonly path: string;
      readonly problem: string;
      /** The command that git itself advises. */
      readonly advice: string | null;
    }
  | { readonly kind: "project-copied"; readonly root: string; readonly original: string }
  | StoreFailure
  /** `holders`: the processes that use files which are deleted. None: another program has made new ones under us. */
  | {
      readonly kind: "store-index-lost";
      readonly path: string;
      readonly files: readonly string[];
      readonly holders: readonly number[];
    }
  | { readonly kind: "no-access"; readonly path: string | null; readonly problem: string }
  /** Something else than a file that can be read has the name of a file. `problem` says what. */
  | { readonly kind: "unusable-file"; readonly path: string; readonly problem: string }
  /** Something else has the name of a directory that we need. */
  | { readonly kind: "not-a-directory"; readonly path: string }
  | { readonly kind: "program-missing"; readonly program: string }
  | { readonly kind: "disk-full"; readonly path: string | null }
  | { readonly kind: "signing-failed"; readonly problem: string }
  | { readonly kind: "worktree-damaged"; readonly path: string; readonly problem: string }
  | { readonly kind: "filters-not-ready"; readonly filters: readonly FilterProblem[] }
  | { readonly kind: "commit-refused"; readonly commit: string; readonly problem: string }
  /** `next`: what to type, where the caller is known to be no agent. */
  | { readonly kind: "engine-unreachable"; readonly problem: string; readonly next?: string }
  | { readonly kind: "unexpected"; readonly problem: string };

/** One setting that cannot be used. `problem` completes the sentence "`<field>` ...". */
export interface ConfigProblem {
  readonly field: string;
  readonly problem: string;
  /** The file with the problem, when it is not the `path` of the failure. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** Thrown where no caller could carry on; the surface that catches it reads `data`, never the message. */
export class Failure extends Error {
  readonly data: FailureData;

  constructor(data: FailureData, options?: ErrorOptions) {
    super(messageOf(data), options);
    this.name = "Failure";
    this.data = data;
  }
}

/** For a channel that can pass a failure on only as text, such as a mail. */
function messageOf(data: FailureData): string {
  if (data.kind === "filters-not-ready") return data.filters.map(filterSentence).join("; ");
  if (data.kind === "signing-failed") return `the commit could not be signed: ${data.problem}; ${signingAdvice}`;
  if (data.kind === "commit-refused") return `the commit ${data.commit.slice(0, 12)} is refused: ${data.problem}`;
  if (data.kind === "unusable-file") return `${data.path} cannot be read: ${data.problem}`;
  if (data.kind === "not-a-directory") return `${data.path} must be a directory, but something else has that name`;
  if (data.kind === "disk-full") return `the disk${data.path === null ? "" : ` that holds ${data.path}`} is full`;
  if (data.kind === "config-invalid") return `${data.path} cannot be used`;
  if (data.kind === "program-missing") return `there is no program "${data.program}"`;
  if (isStoreFailure(data)) return storeTrouble(data).says;
  return "problem" in data && saysItAll.some((kind) => kind === data.kind) ? data.problem : data.kind;
}

const saysItAll = ["unexpected", "no-access", "worktree-damaged"] as const;

/** Either the key becomes usable without a question, or the user does not sign. Only the user's own setting counts. */
export const signingAdvice =
  "unlock the key for this user and try again, or land unsigned: git config --global commit.gpgSign false";

/** The words of a failure that lasts until a person does something about it; undefined for any other. */
export function lastingProblem(thrown: unknown): string | undefined {
  const { kind } = failureOf(thrown);
  return lasting.includes(kind) ? (thrown as Failure).message : undefined;
}

const lasting: readonly FailureData["kind"][] = ["filters-not-ready", "signing-failed", "commit-refused"];

/** Why git cannot read one worktree; undefined for any other trouble. The other worktrees are as good as ever. */
export function damageOf(thrown: unknown): string | undefined {
  const failure = failureOf(thrown);
  return failure.kind === "worktree-damaged" ? failure.problem : undefined;
}

/**
 * Turns a caught value into failure data. A `Failure` carries its own; a full disk and a forbidden path are known by
 * their error codes; the rest is unexpected.
 */
export function failureOf(thrown: unknown): FailureData {
  if (thrown instanceof Failure) return thrown.data;
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  const path = thrown instanceof Error && "path" in thrown && typeof thrown.path === "string" ? thrown.path : null;
  if (fullCodes.some((full) => full === code)) return { kind: "disk-full", path };
  if (code === "EROFS" && path !== null) return { kind: "store-read-only", path: directoryOf(path), of: "disk" };
  if (thrown instanceof Error && (code === "EACCES" || code === "EPERM")) {
    return { kind: "no-access", path, problem: thrown.message };
  }
  return { kind: "unexpected", problem: thrown instanceof Error ? thrown.message : String(thrown) };
}

/**
 * The directory of a path. A file that could not be made on a read-only disk does not exist, but its directory does.
 */
const directoryOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf("/")));

/** No space, or none for this user. */
const fullCodes = ["ENOSPC", "EDQUOT"] as const;
