import { mailTypes, priorities } from "../../../domain/mail/types.ts";
import type { Argument, Command, Flag } from "../command.ts";

const messageId: Argument = { name: "id", summary: "Id of the message", required: true, complete: "messages" };

const type = (summary: string): Flag => ({ name: "type", value: "type", choices: mailTypes, summary });
const priority = (summary: string): Flag => ({ name: "priority", value: "priority", choices: priorities, summary });
const payload: Flag = {
  name: "payload",
  value: "json",
  type: "json",
  summary: "Data for programs, in the form that the type of the message asks for",
};
const as: readonly Flag[] = [
  { name: "from", value: "name", summary: "Send the message in this name (operator only)", complete: "agents" },
  { name: "agent", value: "name", summary: "The same as --from, and wins over it", complete: "agents" },
];
const limit: Flag = { name: "limit", value: "n", type: "integer", min: 1, summary: "Show at most this many" };

/** `ov mail`: messages between agents and people. */
export const mailCommand: Command = {
  name: "mail",
  summary: "Send, read and follow messages",
  group: "Mail",
  commands: [
    {
      name: "send",
      summary: "Send a message to a name or a group",
      details:
        "Groups: @all, @run, @children, @siblings, @builders, @leads and so on. A group message informs;\nwith --wake it also starts a turn of each member.\nWithout --type, a message from you or from the agent's parent starts a turn, and an agent at work is shown it before it can finish.\nA message of another kind may start no turn; the answer says so.",
      flags: [
        { name: "to", value: "address", required: true, complete: "agents", summary: "A name, or a group like @all" },
        { name: "subject", value: "text", required: true, summary: "What it is about, in one line" },
        { name: "body", value: "text", required: true, summary: "Text of the message; - reads it from standard input" },
        type("Kind of message (default status)"),
        priority("How urgent (default normal)"),
        payload,
        ...as,
        { name: "wake", negatable: true, summary: "Start a turn of the recipient, or start none" },
        { name: "strict", summary: "Refuse a name that no agent has" },
        { name: "allow-empty", summary: "A group without members is no error" },
        { name: "expects-reply", summary: "The sender waits for an answer" },
        { name: "dedupe-key", value: "key", summary: "Send only once with this key, however often it is tried" },
      ],
      examples: [
        {
          line: 'ov mail send --to lead-1 --subject "API" --body "Use v2"',
          does: "Tells one agent, which reads it at once",
        },
        {
          line: 'ov mail send --to lead-1 --subject "Note" --body "I am back" --type status',
          does: "Informs one agent with its next turn",
        },
        {
          line: 'ov mail send --to @builders --subject "Stop" --body "Main is red" --wake',
          does: "Wakes all builders",
        },
      ],
      worksWithBrokenConfig: true,
      run: async () => (await import("../commands/mail.ts")).send,
    },
    {
      name: "check",
      summary: "Take new messages out of an inbox",
      details:
        "Mail that is shown counts as read. Behind a pipe of yours (ov mail check | head) it stays unread, for the reader may take only a part. Agents, --inject and --json always take it.",
      inHooks: true,
      flags: [
        { name: "agent", value: "name", summary: "Whose inbox (default: your own)", complete: "agents" },
        { name: "inject", summary: "Print for a model; nothing at all when there is no mail" },
        { name: "read", summary: "Count the mail as read also where it goes to a pipe" },
        {
          name: "debounce",
          value: "ms",
          type: "integer",
          min: 0,
          summary: "Print nothing if mail was handed out less than this many milliseconds ago",
        },
      ],
      examples: [{ line: "ov mail check", does: "Shows what is new and marks it read" }],
      worksWithBrokenConfig: true,
      run: async () => (await import("../commands/mail-check.ts")).check,
    },
    {
      name: "list",
      summary: "List messages, newest first, without marking any read",
      flags: [
        { name: "from", value: "name", summary: "Only messages from this sender", complete: "agents" },
        { name: "to", value: "name", summary: "Only messages to this recipient", complete: "agents" },
        { name: "agent", value: "name", summary: "The same as --to, which wins over it", complete: "agents" },
        { name: "unread", summary: "Only messages that were not handed over yet" },
        type("Only of this kind"),
        { name: "run", value: "id", summary: "Only of this run", complete: "runs" },
        { name: "thread", value: "id", summary: "Only the thread of this message", complete: "messages" },
        limit,
      ],
      worksWithBrokenConfig: true,
      run: async () => (await import("../commands/mail.ts")).list,
    },
    {
      name: "read",
      summary: "Show one message and mark it read",
      arguments: [messageId],
      worksWithBrokenConfig: true,
      run: async () => (await import("../commands/mail.ts")).read,
    },
    {
      name: "reply",
      summary: "Answer a message in its thread",
      arguments: [messageId],
      flags: [
        { name: "body", value: "text", required: true, summary: "Text of the message; - reads it from standard input" },
        type("Kind of message (default status)"),
        priority("How urgent (default: as the original)"),
        payload,
        ...as,
      ],
      worksWithBrokenConfig: true,
      run: async () => (await import("../commands/mail.ts")).reply,
    },
    {
      name: "status",
      summary: "Show how far a message has come",
      arguments: [messageId],
      run: async () => (await import("../commands/mail.ts")).status,
    },
    {
      name: "why",
      summary: "Explain why a message has or has not been seen, or why the last turns of an agent started",
      arguments: [{ ...messageId, summary: "Id of the message, or name of the agent" }],
      run: async () => (await import("../commands/mail.ts")).why,
    },
    {
      name: "dead",
      summary: "List messages that could not be delivered",
      flags: [limit],
      run: async () => (await import("../commands/mail.ts")).dead,
    },
    {
      name: "retry",
      summary: "Try to deliver a dead message again",
      arguments: [messageId],
      run: async () => (await import("../commands/mail.ts")).retry,
    },
    {
      name: "purge",
      summary: "Delete messages",
      details: "Needs --all, --days or --agent. Days and agent together delete what both match.",
      flags: [
        { name: "all", summary: "All messages; the other flags are ignored" },
        { name: "days", value: "n", type: "integer", min: 1, summary: "Messages older than this many days" },
        { name: "agent", value: "name", summary: "Messages that this agent sent or received", complete: "agents" },
      ],
      run: async () => (await import("../commands/mail.ts")).purge,
    },
  ],
};
