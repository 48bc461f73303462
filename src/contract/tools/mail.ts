import { isIn } from "../../domain/agent/capability.ts";
import { severities } from "../../domain/mail/payload-shapes.ts";
import { mailTypes, priorities } from "../../domain/mail/types.ts";
import { object } from "../../domain/schema/schema.ts";
import { anyText, choice, flag, someTexts, text, whole } from "./input.ts";
import type { ToolFor } from "./tool.ts";

/** A client's own time limit would end longer waits without an answer. */
export const longestWaitSeconds = 300;

/** Tools to talk to the others. No tool takes a sender: who calls is who writes. */
export const mailTools = {
  inbox: (role) => ({
    description: "Takes your new messages, most urgent first. What it shows counts as read when you call it again.",
    readOnly: false,
    input: object(
      {},
      {
        limit: whole({ min: 1, max: 100 }, "At most so many messages"),
        types: {
          type: "array",
          items: { type: "string", enum: mailTypes },
          minItems: 1,
          description: "Only of these types; the others stay",
        },
        ...(isIn("persistent", role.capability)
          ? { wait_s: whole({ min: 0, max: longestWaitSeconds }, "Wait so many seconds for a message") }
          : {}),
      },
    ),
  }),
  send: (role) => ({
    description: "Sends a message to an agent, `operator` or a group such as @children. Facts go into payload.",
    readOnly: false,
    input: object(
      {
        to: text("Name of an agent, operator, or a group like @children"),
        type: choice(role.sends, "Kind of message"),
        subject: text("What it is about, in one line"),
        body: text("What it says"),
      },
      {
        priority: choice(priorities, "How urgent; normal when left out"),
        payload: { ...object({}), additionalProperties: true, description: "Data as the type asks for it" },
        expects_reply: flag("You wait for an answer"),
      },
    ),
  }),
  reply: (role) => ({
    description: "Answers a message in its thread.",
    readOnly: false,
    input: object(
      { id: text("Id of the message"), body: text("Your answer") },
      {
        type: choice(role.sends, "Kind of message; status when left out"),
        payload: { ...object({}), additionalProperties: true, description: "Data as the type asks for it" },
      },
    ),
  }),
  ack: () => ({
    description: "Marks messages of yours as read and dealt with.",
    readOnly: false,
    input: object({ ids: someTexts("Ids of the messages") }),
  }),
  report_blocked: () => ({
    description: "Tells your parent that you cannot go on, and what you need. Then end your turn.",
    readOnly: false,
    input: object({
      severity: choice(severities, "How bad it is"),
      context: text("What happened and what you tried"),
      needs: text("What would unblock you"),
    }),
  }),
  ask_human: () => ({
    description:
      "Asks the operator directly for a decision of taste or scope. Facts you ask your parent for, with a question. Then end your turn: the answer wakes you.",
    readOnly: false,
    input: object(
      { question: text("What is to be decided, in one line"), options: someTexts("What can be chosen") },
      { context: anyText("What the operator must know to decide") },
    ),
  }),
  decide: () => ({
    description: "Answers a decision_gate that was sent to you.",
    readOnly: false,
    input: object(
      { id: text("Id of the decision_gate message"), option: text("What you chose") },
      { note: anyText("Why, or on what condition") },
    ),
  }),
  checkpoint: () => ({
    description: "Notes where you stand, for whoever has to go on from here.",
    readOnly: false,
    input: object({ progress: text("What is done") }, { pending: anyText("What is left, and what you wait for") }),
  }),
} as const satisfies Record<string, ToolFor>;
