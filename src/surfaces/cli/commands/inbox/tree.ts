import type { Command } from "../../command.ts";

/** `ov inbox`: what a person has to answer, then what they have to read. */
export const inboxCommand: Command = {
  name: "inbox",
  summary: "Show what waits for your word, then your new mail",
  details:
    "Decisions and approvals come first and stay until they are made. Mail that is shown counts as read by you; nobody else's mail is touched. Behind a pipe (ov inbox | head) it stays unread, for the reader may take only a part.",
  group: "Operate",
  flags: [
    { name: "peek", summary: "Leave the mail unread" },
    { name: "read", summary: "Count the mail as read also where it goes to a pipe" },
  ],
  examples: [
    { line: "ov inbox", does: "what needs you now" },
    { line: "ov inbox --peek --json", does: "the same for a script, which changes nothing" },
  ],
  worksWithBrokenConfig: true,
  run: async () => (await import("../inbox.ts")).inbox,
};
