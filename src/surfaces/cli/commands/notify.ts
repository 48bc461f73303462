import { notifyTestView } from "../../../contract/views/notify.ts";
import { ok } from "../../../domain/result.ts";
import { exits } from "../../shared/exits.ts";
import type { Handler } from "../command.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";

export const testNotify: Handler = async ({ app, io }) => {
  const tried = await app.call("notify.test", {});
  if (!tried.ok) return tried;
  const { results, unavailable, bell } = tried.value;
  const { paint } = io;
  const hasFailed = unavailable.length > 0 || results.some(({ problem }) => problem !== null);
  const isOff = results.length === 0 && unavailable.length === 0 && !bell;
  const lines = [
    ...results.map(({ channel, problem }) =>
      problem === null
        ? successLine(paint, `Sent by ${channel}.`)
        : warningLine(paint, `not sent by ${channel}: ${problem}`, `ov config explain notify.${channel}`),
    ),
    ...unavailable.map((why) => warningLine(paint, why)),
    ...(bell ? ["ov dashboard, ov status --watch and ov feed --follow ring the bell of their terminal."] : []),
    ...(isOff
      ? ["No notification is configured.", hintLine(paint, 'ov config set --local notify.command "<command>"')]
      : []),
  ];
  return ok({
    json: notifyTestView(tried.value),
    text: lines.join("\n"),
    ...(hasFailed ? { exit: exits.check } : {}),
  });
};
