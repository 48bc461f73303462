import { addedEntryView, entryView, pauseView, queuedEntryView } from "../../../contract/views/merge.ts";
import type { MergeEntry } from "../../../domain/merge/entry.ts";
import { resumeCommand } from "../../../domain/merge/queue-pause.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { App } from "../app.ts";
import type { Call, Handler, Io, Outcome } from "../command.ts";
import { integer, isOn, text, texts, word } from "../given.ts";
import { hintLine, successLine } from "../marks.ts";
import { goneLines } from "./decide.ts";
import { approvalHints, entryLine, mergeRows, queuedLines } from "./merge-render.ts";

export const add: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const rest = await settleRest(call, [word(args.branch)]);
  if (!rest.ok) return rest;
  const request = await app.call("merge.planAdd", {
    branch: word(args.branch),
    targetBranch: text(flags.into),
    dependsOn: texts(flags["depends-on"]),
    priority: integer(flags.priority),
    listsFiles: io.json,
  });
  if (!request.ok) return request;
  const reply = await app.call("merge.add", request.value);
  if (!reply.ok) return reply;
  const { entry, added } = reply.value;
  const head = added
    ? successLine(io.paint, `Queued as merge ${entry.id}:`, visibleLine(entry.branch))
    : `${io.paint.accent(visibleLine(entry.branch))} had its place already`;
  return ok({
    json: addedEntryView(reply.value),
    text: [head, entryLine(io.paint, entry), ...approvalHints(io.paint, [entry])].join("\n"),
    quietText: String(entry.id),
  });
};

export const list: Handler = async ({ app, flags, io }) => {
  const found = await app.call("merge.list", {
    status: text(flags.status),
    runId: text(flags.run),
    all: isOn(flags.all),
    limit: integer(flags.limit),
  });
  if (!found.ok) return found;
  const { entries } = found.value;
  const rows = mergeRows(entries);
  const failed = entries.length > 0 || flags.status !== undefined ? [] : await failedMerges(app, text(flags.run));
  const nothing = [
    "Nothing is on its way.",
    ...(failed.length === 0 ? [] : [hintLine(io.paint, didNotLand(failed))]),
    hintLine(io.paint, "see what has landed: ov merge log"),
  ].join("\n");
  const full = [
    ...entries.flatMap((view) => queuedLines(io.paint, view)),
    ...approvalHints(
      io.paint,
      entries.map(({ entry }) => entry),
    ),
  ];
  return ok({
    json: { entries: entries.map(queuedEntryView), count: entries.length },
    text: entries.length === 0 ? nothing : full.join("\n"),
    wraps: true,
    rows,
  });
};

/** The numbers of branches whose newest try did not land. */
async function failedMerges(app: App, runId: string | undefined): Promise<readonly number[]> {
  const all = await app.call("merge.list", { runId, all: true });
  if (!all.ok) return [];
  const newest = new Map(all.value.entries.map(({ entry }) => [entry.branch, entry]));
  const isFailed = ({ status }: MergeEntry): boolean => status === "failed" || status === "conflict";
  return [...newest.values()].filter(isFailed).map(({ id }) => id);
}

const didNotLand = (failed: readonly number[]): string =>
  failed.length === 1
    ? `1 branch did not land: ov merge show ${failed[0]}`
    : `${failed.length} branches did not land: ov merge list --all`;

export const approve: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const of = text(args.merge);
  const all = isOn(flags.all);
  if (all && of !== undefined) return no(invalid("--all", "and a merge are mutually exclusive"));
  if (!all && of === undefined)
    return no(invalid("this command", "needs to know which merge", { allowed: ["a number", "a branch", "--all"] }));
  const ignoreDependencies = isOn(flags["ignore-dependencies"]);
  if (all && ignoreDependencies) return no(invalid("--ignore-dependencies", "goes with one merge"));
  const committed = isOn(flags["commit-rest"]) ? await commitBefore(call, { of, all }) : ok(of);
  if (!committed.ok) return committed;
  const leaveRest = isOn(flags["leave-rest"]);
  const reply = await app.call("merge.approve", { of: committed.value, all, ignoreDependencies, leaveRest });
  if (!reply.ok) return reply;
  const { approved } = reply.value;
  const lines = approved.flatMap(({ id, branch, headCommit, causeDetail }) => [
    successLine(io.paint, `Approved merge ${id}:`, visibleLine(`${branch} at ${headCommit.slice(0, 10)}`)),
    ...(causeDetail?.difference === undefined ? [] : [`  ${visibleLine(causeDetail.message)}`]),
  ]);
  const hint = hintLine(io.paint, "see what becomes of it: ov merge list --all");
  return ok({
    json: { approved: approved.map(entryView), count: approved.length },
    text: approved.length === 0 ? "Nothing waits for approval." : [...lines, hint].join("\n"),
    quietText: approved.map(({ id }) => id).join("\n"),
  });
};

/**
 * Commits what agents left uncommitted, and queues the new commits. Returns the entry to approve: a branch with a new
 * commit has a newer entry.
 */
async function commitBefore(
  call: Call,
  request: { readonly of: string | undefined; readonly all: boolean },
): Promise<Result<string | undefined, Refusal>> {
  // All or none: what would be refused later is refused now, before anything is committed or approved.
  const looked = await call.app.call("merge.approve", { ...request, beforeCommit: true });
  if (!looked.ok) return looked;
  const named = looked.value.approved;
  const rest = await settleRest(
    call,
    named.map(({ branch }) => branch),
  );
  if (!rest.ok) return rest;
  for (const { branch, targetBranch } of named) {
    const newer = rest.value.includes(branch) ? await queueNewer(call.app, [branch], targetBranch) : ok(undefined);
    if (!newer.ok) return newer;
  }
  return ok(rest.value.length > 0 && !request.all ? named[0]?.branch : request.of);
}

export const reject: Handler = async ({ app, args, flags, io }) => {
  const reply = await app.call("merge.reject", { of: word(args.merge), reason: word(flags.reason) });
  if (!reply.ok) return reply;
  const { entry, agentName, isBack } = reply.value;
  const outcome = decided(io, "Rejected", entry);
  if (agentName === null || isBack) return ok(outcome);
  return ok({ ...outcome, text: [outcome.text, ...goneLines(io.paint, agentName)].join("\n") });
};

export const cancel: Handler = async ({ app, args, io }) => {
  const reply = await app.call("merge.cancel", { of: word(args.merge) });
  return reply.ok ? ok(decided(io, "Cancelled", reply.value.entry)) : reply;
};

export const retry: Handler = async ({ app, args, io }) => {
  const reply = await app.call("merge.retry", { of: word(args.merge) });
  if (!reply.ok) return reply;
  const { entry, isNewer } = reply.value;
  const again = decided(io, isNewer ? "Queued its newer commit as" : "Queued again", entry);
  const same =
    isNewer || entry.approval === "waiting" ? [] : ["its branch has no newer commit than the one that was tried"];
  const hints = [...same, `see what becomes of it: ov merge show ${entry.id}`].map((line) => hintLine(io.paint, line));
  return ok({ ...again, text: [again.text, ...hints].join("\n") });
};

export const pause: Handler = async ({ app, flags, io }) => {
  const reply = await app.call("merge.pauseQueue", { reason: text(flags.reason) });
  if (!reply.ok) return reply;
  const { paused, changed, underWay } = reply.value;
  const goesOn = underWay === 0 ? [] : [`${underWay} in a train that is under way may still land.`];
  return ok({
    json: { paused: pauseView(paused), changed, underWay },
    text: [
      changed
        ? successLine(io.paint, "Paused the merge queue:", "nothing else lands")
        : "The merge queue was paused already.",
      ...goesOn,
      hintLine(io.paint, `let it go on: ${resumeCommand}`),
    ].join("\n"),
    quietText: "",
  });
};

export const resume: Handler = async ({ app, args, io }) => {
  if (args.merge === undefined) {
    const queue = await app.call("merge.resumeQueue", {});
    if (!queue.ok) return queue;
    const { changed } = queue.value;
    const words = changed ? successLine(io.paint, "Resumed the merge queue", "") : "The merge queue was not paused.";
    return ok({ json: { changed }, text: words.trimEnd(), quietText: "" });
  }
  const reply = await app.call("merge.resume", { of: word(args.merge) });
  return reply.ok ? ok(decided(io, "Looking again at", reply.value.entry)) : reply;
};

export const move: Handler = async ({ app, args, flags, io }) => {
  const named = texts(flags.after);
  const after = named?.length === 1 && named[0] === "none" ? [] : named;
  const reply = await app.call("merge.move", { of: word(args.merge), priority: integer(flags.priority), after });
  if (!reply.ok) return reply;
  const { entry } = reply.value;
  return ok({
    json: { entry: queuedEntryView(reply.value) },
    text: [
      successLine(io.paint, `Moved merge ${entry.id}:`, visibleLine(entry.branch)),
      ...queuedLines(io.paint, reply.value),
    ].join("\n"),
    quietText: String(entry.id),
  });
};

const decided = (io: Io, verb: string, entry: MergeEntry): Outcome => ({
  json: { entry: entryView(entry) },
  text: [
    successLine(io.paint, `${verb} merge ${entry.id}:`, visibleLine(entry.branch)),
    entryLine(io.paint, entry),
    ...approvalHints(io.paint, [entry]),
  ].join("\n"),
  quietText: String(entry.id),
});

/**
 * Uncommitted files of agents, and their commits beside their branches, would not land, and landing removes their
 * worktrees. So a flag must say what becomes of them. Nothing is changed before every branch was looked at.
 */
export async function settleRest(
  { app, flags, io }: Call,
  branches: readonly string[],
): Promise<Result<readonly string[], Refusal>> {
  const [commit, leave] = [isOn(flags["commit-rest"]), isOn(flags["leave-rest"])];
  if (commit && leave) return no(invalid("--commit-rest", "cannot be combined with --leave-rest"));
  if (leave) return ok([]);
  const found = await app.call("branch.listRests", { branches });
  if (!found.ok) return found;
  const { rests } = found.value;
  // No flag brings commits from elsewhere to a branch: the operator does, or leaves them.
  const refused = rests.find(({ mayCommit }) => !commit || !mayCommit);
  if (refused !== undefined) return no(refused.refusal);
  const open = rests.map(({ branch }) => branch);
  if (commit && open.length === 0) {
    io.warn("--commit-rest had nothing to commit: it takes what agents left uncommitted, not changes of your own");
  }
  for (const branch of open) {
    const done = await app.call("branch.commitRest", { branch });
    if (!done.ok) return done;
    const hooks = done.value.hooksNotRun.map(visibleLine).join(", ");
    const unchecked = hooks === "" ? "" : `; these git hooks were not run: ${hooks}`;
    io.changed(`what was uncommitted is a commit of ${visibleLine(branch)}`);
    io.warn(`what was uncommitted is a commit of ${visibleLine(branch)} now${unchecked}`);
  }
  return ok(open);
}

/**
 * Queues branches that have a new commit; the new entry replaces the older one. The caller approves it: an entry that was
 * approved here might have landed before the caller looks.
 */
export async function queueNewer(
  app: App,
  branches: readonly string[],
  into: string | undefined,
): Promise<Result<unknown, Refusal>> {
  for (const branch of branches) {
    const request = await app.call("merge.planAdd", { branch, targetBranch: into });
    if (!request.ok) return request;
    const added = await app.call("merge.add", request.value);
    if (!added.ok) return added;
  }
  return ok(undefined);
}
