import { atMost } from "../../../domain/at-most.ts";
import { takenOut } from "../../../domain/merge/taken-out.ts";
import type { LandedQuestion } from "../../../ports/worktrees.ts";
import { expectGit, git, runGit, zeroEnded } from "../git.ts";
import { type OwnDir, openOwnDir } from "../own-dir.ts";
import { commitAt } from "../refs.ts";
import type { GitProject } from "../repository.ts";

/**
 * Is everything on a commit in the target: as itself, as picked or rebased commits, as one squashed commit, or because
 * merging it would change nothing? What was landed and taken out later is still in the target's history, so the record
 * is asked first.
 */
export async function isLanded(project: GitProject, question: LandedQuestion, target: string): Promise<boolean> {
  const { commit, base } = question;
  const into = await commitAt(project, target);
  if (into !== undefined && (await isTakenOut(project, question, [into]))) return false;
  if (!(await isIn(project, commit, base, target))) return false;
  for (const parent of await keptBeside(project, commit))
    if (!(await isIn(project, parent, base, target))) return false;
  return true;
}

/**
 * The same for many at once: one process per target finds those that are contained as themselves, which is nearly all of
 * them; only the rest is compared by its changes.
 */
export async function areLanded(
  project: GitProject,
  questions: readonly LandedQuestion[],
  targets: readonly string[],
): Promise<readonly boolean[]> {
  const resolved = await Promise.all(targets.map((target) => commitAt(project, target)));
  const tips = [...new Set(resolved.filter((tip) => tip !== undefined))];
  const isOut = await atMost(4, questions, (question) => isTakenOut(project, question, tips));
  const landed = questions.map(({ commit, base }, at) => isOut[at] !== true && tips.length > 0 && commit === base);
  const rest = (): readonly number[] =>
    [...questions.keys()].filter((at) => landed[at] === false && isOut[at] !== true);
  const compared = new Set<string>();
  for (const tip of tips) {
    const open = rest().map((at) => questions[at]?.commit ?? "");
    if (open.length === 0) return landed;
    const stdin = [...open, `^${tip}`].map((line) => `${line}\n`).join("");
    const listed = await runGit({ cwd: project.repository.root, args: ["rev-list", "--stdin"], stdin });
    // A commit that is not there any more is asked about by itself.
    if (listed.code !== 0) continue;
    compared.add(tip);
    const outside = new Set(listed.out.split("\n"));
    for (const at of rest()) if (!outside.has(questions[at]?.commit ?? "")) landed[at] = true;
  }
  await atMost(4, rest(), async (at) => {
    const { commit, base } = questions[at] ?? { commit: "", base: null };
    for (const tip of tips) {
      const ask = compared.has(tip) ? isInOtherwise : isIn;
      if (landed[at] === false && (await ask(project, commit, base, tip))) landed[at] = true;
    }
  });
  return landed;
}

/** Was the work of the branch taken out of what these commits have between them, and not brought back? */
async function isTakenOut(
  { repository }: GitProject,
  { words = [] }: LandedQuestion,
  into: readonly string[],
): Promise<boolean> {
  if (words.length === 0) return false;
  const look = { git: (args: readonly string[]) => git(repository.root, ...args) };
  const has = async (commit: string): Promise<boolean> => {
    if ((await git(repository.root, "cat-file", "-e", `${commit}^{commit}`)).code !== 0) return false;
    for (const tip of into) if (await isAncestor(look, commit, tip)) return true;
    return false;
  };
  return (await takenOut(words, has)).length > 0;
}

/** Commits that a snapshot of ours keeps beside the work: they are in nothing that could have landed with its files. */
export async function keptBeside({ repository }: GitProject, commit: string): Promise<readonly string[]> {
  const format = "--format=%ce%x00%s%x00%P";
  const [mail, subject, parents = ""] = (await git(repository.root, "show", "-s", format, commit)).out
    .trim()
    .split("\0");
  const [, ...others] = mail === "overstory@localhost" && subject === "snapshot" ? parents.split(" ") : [];
  if (others.length === 0) return [];
  const shown = expectGit(await git(repository.root, "show", "-s", "--format=%H %ce %s", ...others), "reading parents");
  const staged = "overstory@localhost staged";
  return shown.out
    .split("\n")
    .flatMap((line) => (line === "" || line.endsWith(staged) ? [] : [line.split(" ")[0] ?? ""]));
}

async function isIn(project: GitProject, commit: string, base: string | null, target: string): Promise<boolean> {
  const into = await commitAt(project, target);
  if (into === undefined) return false;
  const { repository } = project;
  if (await isAncestor({ git: (args) => git(repository.root, ...args) }, commit, into)) return true;
  return isInOtherwise(project, commit, base, into);
}

/** Is the content of a commit in the target, although the commit itself is not? */
async function isInOtherwise(project: GitProject, commit: string, base: string | null, into: string): Promise<boolean> {
  using own = openOwnDir({
    repository: project.repository,
    scratch: project.scratch,
    objects: "scratch",
  });
  // It never went beyond where it started.
  if (base !== null && (await isAncestor(own, commit, base))) return true;
  const fork = await own.git(["merge-base", commit, into]);
  if (fork.code !== 0) return false;
  const since = fork.out.trim();
  const touched = await isTouched(own, { commit, since, into });
  if (touched !== undefined) return touched === "nothing changed";
  if (await isMergedAway(own, commit, into)) return true;
  if (await isPicked(own, { commit, since, into })) return true;
  return await isPicked(own, { commit: await squash(own, commit, since), since, into });
}

/**
 * The cheap question first. Changes that are in the target in any form were made to their files there, too: where those
 * files are untouched since the fork, nothing of it has landed. Undefined when it has to be compared.
 */
async function isTouched(
  own: OwnDir,
  { commit, since, into }: Range,
): Promise<"nothing changed" | "untouched" | undefined> {
  const names = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", since, commit];
  const files = zeroEnded(expectGit(await own.git(names), "listing changed files").raw).map((path) => path.toString());
  if (files.length === 0) return "nothing changed";
  // Names that are not text, or more of them than a command line takes, are compared instead.
  if (files.length > mostNamed || files.some((path) => path.includes("\uFFFD"))) return undefined;
  const touching = ["rev-list", "--max-count=1", `${since}..${into}`, "--", ...files];
  const found = expectGit(await own.git(touching), "looking for commits that touch the same files");
  return found.out.trim() === "" ? "untouched" : undefined;
}

const mostNamed = 500;

interface Range {
  readonly commit: string;
  readonly since: string;
  readonly into: string;
}

async function isAncestor(own: Pick<OwnDir, "git">, commit: string, of: string): Promise<boolean> {
  const { code, err } = await own.git(["merge-base", "--is-ancestor", commit, of]);
  if (code > 1) throw new Error(`comparing ${commit} with ${of}: ${err.trim()}`);
  return code === 0;
}

async function isMergedAway(own: OwnDir, commit: string, into: string): Promise<boolean> {
  const [merged, tree] = await Promise.all([
    own.git(["merge-tree", "--write-tree", into, commit]),
    own.git(["rev-parse", `${into}^{tree}`]),
  ]);
  return merged.code === 0 && merged.out.trim() === tree.out.trim();
}

/** Has every commit since the fork an equal change in the target? */
async function isPicked(own: OwnDir, { commit, since, into }: Range): Promise<boolean> {
  // Git compares no merges, so what a merge itself brings, as a snapshot with staged work does, would not count.
  const merges = expectGit(
    await own.git(["rev-list", "--merges", "--max-count=1", commit, "--not", since]),
    "looking for merges",
  );
  if (merges.out.trim() === commit) return false;
  const answer = expectGit(await own.git(["cherry", into, commit, since]), "comparing changes");
  return answer.out.split("\n").every((line) => !line.startsWith("+"));
}

async function squash(own: OwnDir, commit: string, onto: string): Promise<string> {
  const answer = await own.git(["commit-tree", `${commit}^{tree}`, "-p", onto, "-m", "squashed"]);
  return expectGit(answer, "squashing").out.trim();
}
