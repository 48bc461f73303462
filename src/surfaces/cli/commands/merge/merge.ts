import { invalid, type Refusal } from "../../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../../domain/result.ts";
import type { MergeView } from "../../../../usecases/merge/read-merges.ts";
import { exits } from "../../../shared/exits.ts";
import type { App } from "../../app.ts";
import type { Call, Handler, Outcome } from "../../command.ts";
import { isOn, text } from "../../given.ts";
import { hintLine } from "../../marks.ts";
import { dryRunAll, dryRunBranch, dryRunCommit } from "./dry-run.ts";
import { awaitsApproval } from "./render.ts";
import { queueNewer, requestFor, settleRest } from "./rest.ts";
import { type MergeResult, resultJson, resultLines } from "./result.ts";
import { settledMerges } from "./wait.ts";

export const merge: Handler = (call) => {
  const branch = text(call.flags.branch);
  if (branch !== undefined) return one(call, branch);
  if (isOn(call.flags.all)) return all(call);
  return Promise.resolve(
    no(invalid("--branch or --all", "must say what to merge", { allowed: ["--branch <name>", "--all"] })),
  );
};

async function one(call: Call, branch: string): Promise<Result<Outcome, Refusal>> {
  const { app, flags, io } = call;
  const isDryRun = isOn(flags["dry-run"]);
  if (isDryRun && isOn(flags["commit-rest"])) {
    const dry = await dryRunCommit(call, branch);
    if (!dry.ok) return dry;
    if (dry.value !== undefined) return ok(dry.value);
  }
  const rest = isDryRun ? ok(undefined) : await settleRest(call, [branch]);
  if (!rest.ok) return rest;
  const request = await requestFor(app, branch, text(flags.into));
  if (!request.ok) return request;
  if (isDryRun) return dryRunBranch(call, request.value);
  // Who names a branch does not want to wait for the rest of the queue.
  const added = await app.call("merge.add", { ...request.value, approve: true, priority: 0 });
  if (!added.ok) return added;
  const { entry } = added.value;
  const resumed = entry.status === "blocked" ? await app.call("merge.resume", { of: String(entry.id) }) : added;
  if (!resumed.ok) return resumed;
  const settled = await settledMerges(app, io, [entry.id]);
  if (!settled.ok) return settled;
  const [result] = settled.value;
  if (result === undefined) throw new Error(`merge ${entry.id} is gone`);
  return ok({
    json: resultJson(result),
    text: resultLines(io.paint, result).join("\n"),
    quietText: "",
    ...exitOf(settled.value),
  });
}

async function all(call: Call): Promise<Result<Outcome, Refusal>> {
  const { app, flags, io } = call;
  const found = await openMerges(app, text(flags.into));
  if (!found.ok) return found;
  if (isOn(flags["dry-run"])) return dryRunAll(call, found.value);
  if (found.value.length === 0) {
    const hint = hintLine(io.paint, "add a branch: ov merge add <branch>, or see what has landed: ov merge log");
    return ok({ json: { results: [], count: 0 }, text: `Nothing waits for being merged.\n${hint}`, quietText: "" });
  }
  const rest = await settleRest(
    call,
    found.value.map(({ entry }) => entry.branch),
  );
  if (!rest.ok) return rest;
  const newer = await queueNewer(app, rest.value, text(flags.into));
  if (!newer.ok) return newer;
  if (rest.value.length > 0) return all({ ...call, flags: { ...flags, "commit-rest": false, "leave-rest": true } });
  const approved = await approveEach(app, found.value, text(flags.into));
  if (!approved.ok) return approved;
  const settled = await settledMerges(
    app,
    io,
    found.value.map(({ entry }) => entry.id),
  );
  if (!settled.ok) return settled;
  const results = settled.value;
  const successCount = results.filter(({ success }) => success).length;
  const failCount = results.length - successCount;
  const waiting = results.filter(waitsForWord).length;
  const counts = [
    `${successCount} merged`,
    `${failCount - waiting} failed`,
    ...(waiting === 0 ? [] : [`${waiting} waiting for approval`]),
    `${results.length} in all`,
  ].join(", ");
  return ok({
    json: {
      success: failCount === 0,
      results: results.map(resultJson),
      count: results.length,
      successCount,
      failCount,
    },
    text: [...results.flatMap((result) => resultLines(io.paint, result)), counts].join("\n"),
    quietText: "",
    ...exitOf(results),
  });
}

const waitsForWord = ({ success, entry }: MergeResult): boolean => !success && awaitsApproval(entry);

/** A branch that waits for a person's word has met no conflict and has not failed. */
function exitOf(results: readonly MergeResult[]): Pick<Outcome, "exit"> {
  const left = results.filter(({ success }) => !success);
  if (left.length === 0) return {};
  return { exit: left.every(waitsForWord) ? exits.busy : exits.merge };
}

/** What is on its way; with `into`, only what is meant for that branch, wherever it waits meanwhile. */
async function openMerges(app: App, into: string | undefined): Promise<Result<readonly MergeView[], Refusal>> {
  const listed = await app.call("merge.list", {});
  if (!listed.ok) return listed;
  if (into === undefined) return ok(listed.value.entries);
  const target = await app.call("branch.find", { branch: into });
  if (!target.ok) return target;
  const landings = await app.call("merge.landings", { target: into });
  if (!landings.ok) return landings;
  const targets = [into, ...landings.value.branches];
  return ok(listed.value.entries.filter(({ entry }) => targets.includes(entry.targetBranch)));
}

async function approveEach(
  app: App,
  views: readonly MergeView[],
  into: string | undefined,
): Promise<Result<unknown, Refusal>> {
  const requests = into === undefined ? [{ all: true }] : views.map(({ entry }) => ({ of: String(entry.id) }));
  for (const request of requests) {
    const approved = await app.call("merge.approve", request);
    if (!approved.ok) return approved;
  }
  for (const { entry } of views) {
    if (entry.status !== "blocked") continue;
    const resumed = await app.call("merge.resume", { of: String(entry.id) });
    // It may have been taken up or have ended since it was listed; what became of it is told in the end.
    if (!resumed.ok && resumed.refusal.kind !== "merge-status") return resumed;
  }
  return ok(undefined);
}
