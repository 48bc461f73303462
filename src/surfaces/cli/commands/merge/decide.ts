import type { MergeEntry } from "../../../../domain/merge/entry.ts";
import { invalid, type Refusal } from "../../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Call, Handler, Io, Outcome } from "../../command.ts";
import { isOn, text, word } from "../../given.ts";
import { hintLine, successLine } from "../../marks.ts";
import { goneLines } from "../decide.ts";
import { approvalHints, entryJson, entryLine } from "./render.ts";
import { queueNewer, settleRest } from "./rest.ts";

export const approve: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const of = text(args.merge);
  const all = isOn(flags.all);
  if (all && of !== undefined) return no(invalid("--all", "and a merge are mutually exclusive"));
  if (!all && of === undefined)
    return no(invalid("this command", "needs to know which merge", { allowed: ["a number", "a branch", "--all"] }));
  const ignoreDependencies = isOn(flags["ignore-dependencies"]);
  if (all && ignoreDependencies) return no(invalid("--ignore-dependencies", "goes with one merge"));
  const settled = await settleBefore(call, { of, all });
  if (!settled.ok) return settled;
  const reply = await app.call("merge.approve", { of: settled.value, all, ignoreDependencies });
  if (!reply.ok) return reply;
  const { approved } = reply.value;
  const lines = approved.flatMap(({ id, branch, causeDetail }) => [
    successLine(io.paint, `Approved merge ${id}:`, visibleLine(branch)),
    ...(causeDetail?.difference === undefined ? [] : [`  ${visibleLine(causeDetail.message)}`]),
  ]);
  const hint = hintLine(io.paint, "see what becomes of it: ov merge list --all");
  return ok({
    json: { approved: approved.map(entryJson), count: approved.length },
    text: approved.length === 0 ? "Nothing waits for approval." : [...lines, hint].join("\n"),
    quietText: approved.map(({ id }) => id).join("\n"),
  });
};

/**
 * Commits uncommitted files where that was asked for. Returns the entry to approve: a branch with a new commit has a
 * newer entry.
 */
async function settleBefore(
  call: Call,
  request: { readonly of: string | undefined; readonly all: boolean },
): Promise<Result<string | undefined, Refusal>> {
  const looked = await call.app.call("merge.approve", { ...request, look: true });
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
  return reply.ok ? ok(decided(io, "Queued again", reply.value.entry)) : reply;
};

export const resume: Handler = async ({ app, args, io }) => {
  const reply = await app.call("merge.resume", { of: word(args.merge) });
  return reply.ok ? ok(decided(io, "Looking again at", reply.value.entry)) : reply;
};

const decided = (io: Io, verb: string, entry: MergeEntry): Outcome => ({
  json: { entry: entryJson(entry) },
  text: [
    successLine(io.paint, `${verb} merge ${entry.id}:`, visibleLine(entry.branch)),
    entryLine(io.paint, entry),
    ...approvalHints(io.paint, [entry]),
  ].join("\n"),
  quietText: String(entry.id),
});
