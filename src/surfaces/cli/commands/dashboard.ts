import { overviewView } from "../../../contract/views/run.ts";
import { ok } from "../../../domain/result.ts";
import type { Handler } from "../command.ts";
import { integer, isOn, text } from "../given.ts";
import { isTerminal } from "../sink.ts";
import { untilInterrupted } from "../waiting.ts";

const defaultIntervalMs = 500;
const plainColumns = 100;

/** The full screen on a terminal; one frame of plain text, or the document of `ov status`, anywhere else. */
export const dashboard: Handler = async ({ app, flags, io }) => {
  const scope = { all: isOn(flags.all), run: text(flags.run) };
  if (io.json) {
    const found = await app.call("status.overview", { ...scope, mailbox: "operator" });
    if (!found.ok) return found;
    const disk = await app.call("status.showDisk", {});
    if (!disk.ok) return disk;
    return ok({ json: overviewView({ ...found.value, ...disk.value }, app.engine.status()), text: "" });
  }
  if (!isTerminal(0) || !isTerminal(1)) {
    const frame = await app.dashboard.frame(scope, { columns: plainColumns });
    return frame.ok ? ok({ json: {}, text: frame.value }) : frame;
  }
  const intervalMs = integer(flags.interval) ?? defaultIntervalMs;
  const shown = await untilInterrupted((signal) => app.dashboard.run({ scope, intervalMs, paint: io.paint, signal }));
  return shown.ok ? ok({ json: {}, text: "", silent: true }) : shown;
};
