import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { landingBranchFor } from "../../domain/merge/landing-branch.ts";
import { stateDirName, trustName } from "../../domain/project/place.ts";
import type { QuickGit } from "../../ports/merge-git.ts";
import { lstatIfThere, readBytes, readText } from "../file-access.ts";
import { git, zeroEnded } from "./git.ts";
import { commonDirOf, gitLinkIn, textOf } from "./places.ts";
import { mayBeCheckedOut } from "./worktree/list.ts";

export const quickGit = (root: string): QuickGit => ({
  tipOf: (branch) => branchTip(root, branch),
  changedFiles: async (target, commit) => {
    const onto = await landingTip(root, target);
    if (onto === undefined) return undefined;
    const how = ["-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none", "--merge-base"];
    const { code, raw } = await git(root, "diff-tree", ...how, "--end-of-options", onto, commit);
    // It fails where the two have no common ancestor, or several.
    return code === 0 ? zeroEnded(raw).map(String).toSorted() : undefined;
  },
  hasPlainFiles: () => hasPlainFiles(root),
});

/** The names right below `refs/heads/<folder>/` that are branches themselves. None where refs are kept in another form. */
export function branchNamesIn(root: string, folder: string): readonly string[] {
  const common = commonDirOf(root);
  if (common === undefined) return [];
  const prefix = `refs/heads/${folder}/`;
  const dir = join(common, prefix);
  const loose = existsSync(dir) ? readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isFile()) : [];
  const packed = (readText(join(common, "packed-refs")) ?? "").split("\n").flatMap((line) => {
    const name = line.includes(` ${prefix}`) ? line.slice(line.indexOf(prefix) + prefix.length) : "";
    return name === "" || name.includes("/") ? [] : [name];
  });
  return [...new Set([...loose.map(({ name }) => name), ...packed])];
}

/** No attributes, tracked or not, no setting of the repository that is about files, and no confirmation that expects one. */
function hasPlainFiles(root: string): boolean {
  const common = commonDirOf(root);
  const link = gitLinkIn(join(root, ".git"));
  if (common === undefined) return false;
  const gitDir = link === undefined ? common : resolve(root, link);
  const config = textOf(join(common, "config"));
  if (config === undefined || aboutFiles.test(config)) return false;
  const others = [
    join(common, "info", "attributes"),
    join(common, stateDirName, trustName),
    join(root, ".gitattributes"),
  ];
  return !others.some((path) => existsSync(path)) && !mayNameAttributes(join(gitDir, "index"));
}

const aboutFiles = /filter|autocrlf|eol|symlinks|ignorecase|attributesfile|include|worktreeconfig/i;

/** Does an index name a file of attributes? Also true for an index that does not have all names in full. */
function mayNameAttributes(index: string): boolean {
  const stat = statSync(index, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  if (!stat.isFile() || stat.size > largestIndex) return true;
  const bytes = readBytes(index);
  if (bytes === undefined) return false;
  const isPlain = bytes.toString("latin1", 0, 4) === "DIRC" && (bytes[7] === 2 || bytes[7] === 3);
  return !isPlain || bytes.includes(".gitattributes") || bytes.includes("link\0");
}

const largestIndex = 16 * 1024 * 1024;

/** Where work of no run for the target would be put now: as the merge worker decides it. */
async function landingTip(root: string, target: string): Promise<string | undefined> {
  const tip = branchTip(root, target);
  const commonDir = commonDirOf(root);
  if (typeof tip !== "string" || commonDir === undefined) return undefined;
  if (!mayBeCheckedOut({ commonDir, isOrdinary: true }, [`refs/heads/${target}`])) return tip;
  const landing = branchTip(root, landingBranchFor({ target, runId: null, targetCheckedOut: true, earlier: [] }));
  if (landing === undefined) return undefined;
  if (landing === null || landing === tip) return tip;
  const { code } = await git(root, "merge-base", "--is-ancestor", landing, tip);
  return code === 0 ? tip : code === 1 ? landing : undefined;
}

/**
 * The tip of a branch, read from the files in which git keeps it, without a git process. Null when there is no such
 * branch. Undefined where the files do not tell: the name is unusual, the branch stands for another one, or the
 * repository keeps its refs in another form. Then git has to be asked.
 */
function branchTip(root: string, branch: string): string | null | undefined {
  // A file system that takes capital and small letters for the same would find a branch under the name of another.
  if (process.platform !== "linux" || !isPlainName(branch)) return undefined;
  const common = commonDirOf(root);
  if (common === undefined || existsSync(join(common, "reftable"))) return undefined;
  const ref = `refs/heads/${branch}`;
  const own = textOf(join(common, ref))?.trim();
  if (own !== undefined) return isId(own) ? own : undefined;
  const stat = lstatIfThere(join(common, ref));
  // An empty directory may be left of branches that were deleted or packed.
  if (stat !== undefined && !stat.isDirectory()) return undefined;
  const line = readText(join(common, "packed-refs"))
    ?.split("\n")
    .find((each) => each.endsWith(` ${ref}`));
  if (line === undefined) return null;
  const commit = line.slice(0, line.indexOf(" "));
  return isId(commit) ? commit : undefined;
}

/** Git accepts every name of this form for a branch, if it has no `..` in it. */
const isPlainName = (name: string): boolean =>
  name.length <= longestName &&
  /^\w[\w.-]*(\/\w[\w.-]*)*$/.test(name) &&
  !name.includes("..") &&
  !/\.lock(\/|$)/.test(name);

/** A file system refuses a path with a much longer part. Git is asked about such a name. */
const longestName = 200;

const isId = (text: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
