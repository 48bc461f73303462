import { boolean, milliseconds, optionalText } from "./key.ts";
import { webAddress } from "./models.ts";

/** How the operator hears of what waits for them. */
export const notifyKeys = {
  "notify.command": optionalText({
    doc: "A shell command that is run when something new waits for you. It reads what that is as JSON from its standard input.",
  }),
  "notify.webhook": optionalText({
    doc: "An http or https address to which the same JSON is posted.",
    shape: webAddress,
  }),
  "notify.desktop": boolean({
    doc: "Whether notify-send shows it on the desktop, where that program is installed.",
    default: false,
  }),
  "notify.bell": boolean({
    doc: "Whether ov dashboard, ov status --watch and ov feed --follow ring the bell of their terminal.",
    default: false,
  }),
  "notify.debounceMs": milliseconds({
    doc: "How long more of the same is waited for, so that what comes together is told together.",
    default: 2_000,
    max: 600_000,
  }),
  "notify.timeoutMs": milliseconds({
    doc: "How long a command, a desktop message or a webhook may take before it is given up.",
    default: 10_000,
    min: 100,
    max: 60_000,
  }),
};
