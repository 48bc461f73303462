import { invalid, notFound } from "../src/domain/refusal.ts";
import { no, ok } from "../src/domain/result.ts";
import type { Command, Handler } from "../src/surfaces/cli/command.ts";
import { completionsCommand } from "../src/surfaces/cli/tree/tool-commands.ts";

const echo: Handler = async ({ path, flags, args }) =>
  ok({ json: { flags, args }, text: `${path.join(" ")} ${JSON.stringify({ flags, args })}`, quietText: "" });

const run = async (): Promise<Handler> => echo;

/** A small tree with one of everything, for the tests of the framework. */
export const sampleTree: Command = {
  name: "ov",
  summary: "Turns one coding session into a team.",
  examples: [{ line: "ov mail send --to lead-1 --body hi", does: "Sends a message" }],
  commands: [
    {
      name: "mail",
      group: "Talking",
      summary: "Read and write messages",
      commands: [
        {
          name: "send",
          summary: "Send a message",
          details: "Stores the message and wakes <agent>.\nNothing is typed into a terminal.",
          flags: [
            { name: "to", short: "t", value: "agent", required: true, complete: "agents", summary: "Who gets it" },
            { name: "body", short: "b", value: "text", required: true, summary: "What it says" },
            { name: "type", value: "type", choices: ["status", "question", "dispatch"], summary: "Kind of message" },
            { name: "payload", value: "json", type: "json", summary: "Data beside the text" },
            { name: "cc", value: "agents", type: "list", complete: "agents", summary: "Who else gets it" },
            { name: "hops", value: "n", type: "integer", min: 0, summary: "How far it may travel" },
            { name: "wait", optionalValue: "state", summary: "Wait until it was read" },
            { name: "notify", negatable: true, summary: "Show a notice" },
            { name: "from", value: "agent", summary: "Sender", deprecated: "the sender is known" },
            { name: "trace-id", value: "id", hidden: true, summary: "For our own processes" },
            { name: "json", summary: "Declared again, as older commands did" },
          ],
          examples: [{ line: "ov mail send -t lead-1 -b 'it is done'", does: "Reports to the lead" }],
          run,
        },
        {
          name: "read",
          summary: "Mark read",
          arguments: [{ name: "id", required: true, complete: "messages", summary: "Which" }],
          run,
        },
        { name: "list", summary: "List messages", run: async () => list },
      ],
    },
    {
      name: "merge",
      group: "Landing",
      summary: "Merge a branch",
      flags: [{ name: "branch", value: "name", complete: "branches", summary: "What to merge" }],
      commands: [
        {
          name: "list",
          summary: "Show the queue",
          flags: [{ name: "branch", value: "name", summary: "Only this one" }],
          run,
        },
        { name: "undo", summary: "Take a merge back", run },
      ],
      run,
    },
    {
      name: "nudge",
      group: "Talking",
      summary: "Poke an agent",
      arguments: [
        { name: "agent", required: true, complete: "agents", summary: "Whom" },
        { name: "words", variadic: true, summary: "What to say" },
      ],
      run,
    },
    {
      name: "spec",
      summary: "Show a file",
      arguments: [
        { name: "file", complete: "files", summary: "Path" },
        { name: "style", choices: ["short", "long"], summary: "How much" },
      ],
      run,
    },
    { name: "supervisor", summary: "Older name of a lead", deprecated: "use ov lead", run },
    {
      name: "refuse",
      summary: "Says no",
      hidden: true,
      run: async () => async () => no(notFound("agent", "bob\u001b[2J", "rob")),
    },
    {
      name: "reject",
      summary: "Says no",
      hidden: true,
      run: async () => async () => no(invalid("depth", "must be small")),
    },
    {
      name: "crash",
      summary: "Breaks",
      hidden: true,
      run: async () => () => Promise.reject(new Error("boom", { cause: new Error("the reason") })),
    },
    {
      name: "talk",
      summary: "Says things",
      hidden: true,
      run:
        async () =>
        async ({ io }) => {
          io.say("said");
          io.warn("warned");
          return ok({
            json: { heard: await io.stdin(), yes: io.yes, success: false, command: "x" },
            text: io.paint.red("data"),
            exit: 5,
          });
        },
    },
    {
      name: "large",
      summary: "Prints five megabytes",
      hidden: true,
      run: async () => async () => ok({ json: { text: "x".repeat(5_000_000) }, text: "x".repeat(5_000_000) }),
    },
    completionsCommand(() => sampleTree),
  ],
};

const list: Handler = async () =>
  ok({
    json: { messages: [{ id: "m1", unread: true }] },
    text: "one message",
    rows: {
      columns: ["id", "subject"],
      cells: [
        ["m1", "tab\there\nand \u001b[31mred"],
        ["message-2", "漢字"],
      ],
    },
  });
