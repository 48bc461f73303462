import { decidedView } from "../../../contract/views/mail.ts";
import type { MergeEntry } from "../../../domain/merge/entry.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok } from "../../../domain/result.ts";
import { shellWord } from "../../../domain/text/shell-word.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { App } from "../app.ts";
import type { Call, Handler, Paint } from "../command.ts";
import { text, word } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";

export const decide: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const refused = await uncommittedRest(call);
  if (refused !== undefined) return no(refused);
  const decided = await app.call("operator.decide", {
    id: word(args.id),
    option: word(args.option),
    note: text(flags.note),
  });
  if (!decided.ok) return decided;
  const { id, kind, option, messageId, to, gone, noLongerLanded = [] } = decided.value;
  return ok({
    json: decidedView(decided.value),
    text: [
      successLine(io.paint, `Decided: ${visibleLine(option)}`, id),
      ...(to === null ? [] : [hintLine(io.paint, `${visibleLine(to)} gets it as mail`)]),
      ...(gone === undefined ? [] : goneLines(io.paint, gone)),
      ...(noLongerLanded.length === 0
        ? []
        : [
            warningLine(
              io.paint,
              `No longer landed, with their tasks open again: ${noLongerLanded.map(visibleLine).join(", ")}`,
              "to land one again: ov merge --branch <branch>",
            ),
          ]),
      ...(kind === "merge" ? [hintLine(io.paint, "see what becomes of it: ov merge list")] : []),
    ].join("\n"),
    quietText: messageId ?? "",
  });
};

/** Who said no to a branch expects its agent to go on. */
export const goneLines = (paint: Paint, agentName: string): readonly string[] => [
  warningLine(paint, `${visibleLine(agentName)} has ended and does not work on by itself, so nobody acts on it`),
  hintLine(paint, `have it go on: ov recover ${visibleLine(agentName)}`),
];

/** This approval lands the branch too, so it asks about uncommitted files and newer commits as `ov merge approve` does. */
async function uncommittedRest({ app, args }: Call): Promise<Refusal | undefined> {
  const id = /^merge:(\d+)$/.exec(word(args.id))?.[1];
  if (id === undefined || !["approve", "1"].includes(word(args.option))) return undefined;
  const listed = await app.call("merge.list", {});
  if (!listed.ok) return listed.refusal;
  const entry = listed.value.entries.find((one) => String(one.entry.id) === id)?.entry;
  const rest = entry === undefined ? undefined : await app.call("branch.listRests", { branches: [entry.branch] });
  if (entry === undefined || rest === undefined) return undefined;
  if (!rest.ok) return rest.refusal;
  const [first] = rest.value.rests;
  if (first === undefined) return movedSince(app, [entry]);
  const may = await app.call("merge.approve", { of: id, look: true });
  if (!may.ok) return may.refusal;
  const { agentName: agent, files, hasCommits } = first;
  return { kind: "uncommitted-rest", agent, branch: entry.branch, files, hasCommits };
}

/** Refuses entries whose branch has commits that were made after it was queued: they would not land. */
export async function movedSince(app: App, entries: readonly MergeEntry[]): Promise<Refusal | undefined> {
  for (const { id, branch, headCommit } of entries) {
    const tip = await app.call("branch.find", { branch });
    if (!tip.ok || headCommit === "" || tip.value.commit === headCommit) continue;
    const allowed = [`ov merge --branch ${shellWord(branch)}`, `ov merge approve ${id} --leave-rest`];
    const why = `has moved since it was queued as merge ${id}, and its newer commits would not land`;
    return invalid("branch", why, { value: branch, allowed });
  }
  return undefined;
}
