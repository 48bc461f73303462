import { defaultDeliveryPolicy as delivery } from "../../domain/mail/delivery.ts";
import { defaultMailLimits as limits } from "../../domain/mail/limits.ts";
import { integer, milliseconds, optionalBoolean } from "./key.ts";

/** How messages travel between agents. */
export const mailKeys = {
  "mail.wake.*": optionalBoolean({
    doc: "Whether mail of a type (status), or of a type to a capability (status@lead), starts a turn.",
  }),
  "mail.coalesceMs": milliseconds({
    doc: "How long worker_done and status wait for siblings while other children are still at work.",
    default: 500,
    max: 60_000,
  }),
  "mail.maxAttempts": integer({
    doc: "Deliveries tried before a message counts as dead.",
    default: delivery.maxAttempts,
    min: 1,
    max: 100,
  }),
  "mail.leaseMs": milliseconds({
    doc: "How long an inbox, hook or MCP reader holds a message before it is offered again.",
    default: delivery.leaseMs,
    min: 100,
  }),
  "mail.retentionDays": integer({
    doc: "Days that settled mail of completed runs is kept; 0 keeps it for ever. Unread mail always stays.",
    default: 30,
    max: 36_500,
  }),
  "mail.maxBodyBytes": integer({
    doc: "Longer bodies are stored as a file and delivered as a summary with its path.",
    default: limits.maxBodyBytes,
    min: 256,
    max: 1024 * 1024,
  }),
  "mail.rateLimits.perMinute": integer({
    doc: "Messages one sender may send in a minute.",
    default: limits.perMinute,
    min: 1,
  }),
  "mail.rateLimits.broadcastPerMinute": integer({
    doc: "Group messages one sender may send in a minute.",
    default: limits.groupsPerMinute,
    min: 1,
  }),
  "mail.hopLimit": integer({
    doc: "Replies to replies that one thread may hold.",
    default: limits.maxHop,
    min: 1,
    max: 1000,
  }),
};
