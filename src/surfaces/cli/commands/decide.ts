import { decidedView } from "../../../contract/views/mail.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { Handler, Paint } from "../command.ts";
import { text, word } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";

export const decide: Handler = async ({ app, args, flags, io }) => {
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

/** An operator who said no to a branch expects its agent to go on. */
export const goneLines = (paint: Paint, agentName: string): readonly string[] => [
  warningLine(
    paint,
    `${visibleLine(agentName)} has ended and does not go on by itself, so no agent acts on your decision`,
  ),
  hintLine(paint, `have it go on: ov recover ${visibleLine(agentName)}`),
];
