import { decidedView } from "../../../contract/views/mail.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { Call, Handler, Paint } from "../command.ts";
import { text, word } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";

export const decide: Handler = async (call) => {
  const { app, args, flags, io } = call;
  if (text(args.id) === undefined || text(args.option) === undefined) return whatIsOpen(call);
  const decided = await app.call("operator.decide", {
    id: word(args.id),
    option: word(args.option),
    note: text(flags.note),
  });
  if (!decided.ok) return decided;
  const { id, kind, option, messageId, to, gone, ended, noLongerLanded = [] } = decided.value;
  return ok({
    json: decidedView(decided.value),
    text: [
      successLine(io.paint, `Decided: ${visibleLine(option)}`, id),
      ...(to === null ? [] : [hintLine(io.paint, `${visibleLine(to)} gets it as mail`)]),
      ...(ended === undefined ? [] : [hintLine(io.paint, `${ended} is complete: ov run show ${ended}`)]),
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
      ...(["put back", "leave out"].includes(option)
        ? [
            hintLine(
              io.paint,
              "it is done at once; when it cannot be done, you are asked again with the reason: ov inbox",
            ),
          ]
        : []),
      ...(kind === "merge" ? [hintLine(io.paint, "see what becomes of it: ov merge list")] : []),
    ].join("\n"),
    quietText: messageId ?? "",
  });
};

/** Refuses to decide what was not said, with what there is to say. */
async function whatIsOpen({ app, args }: Call): Promise<{ readonly ok: false; readonly refusal: Refusal }> {
  const found = await app.call("operator.inbox", {});
  if (!found.ok) return found;
  const { decisions } = found.value;
  const id = text(args.id);
  const asked = decisions.find((one) => one.id === id);
  if (asked !== undefined) return no(invalid("option", `is needed for ${asked.id}`, { allowed: asked.options }));
  // What is wrong with an id that names none is said where decisions are made.
  if (id !== undefined) return no(invalid("option", "is needed: ov decide <id> <option>"));
  const none = "is needed, and no decision is open";
  if (decisions.length === 0) return no(invalid("id", none));
  const open = decisions.map((one) => `${one.id} (${one.from}: ${visibleLine(one.subject)})`);
  return no(
    invalid("id", `is needed; open ${decisions.length === 1 ? "is" : "are"} ${open.join(", ")}`, {
      allowed: decisions.map((one) => one.id),
    }),
  );
}

/** An operator who said no to a branch expects its agent to go on. */
export const goneLines = (paint: Paint, agentName: string): readonly string[] => [
  warningLine(
    paint,
    `${visibleLine(agentName)} has ended and does not go on by itself, so no agent acts on your decision`,
  ),
  hintLine(paint, `have it go on: ov recover ${visibleLine(agentName)}`),
];
