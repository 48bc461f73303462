import type { Delivery, DeliveryState, MailType, Message } from "../../domain/mail/types.ts";

/** Which messages to list. Every field that is given narrows the list. */
export interface MessageFilter {
  readonly from?: string;
  readonly to?: string;
  /** Only messages that one of these names sent or was sent. */
  readonly involving?: readonly string[];
  readonly type?: MailType;
  /** Only messages with a delivery that is neither delivered nor acked. */
  readonly unread?: boolean;
  readonly threadId?: string;
  readonly runId?: string;
  /** Numbers between these, which are not included themselves. With `after`, the oldest so many of them. */
  readonly before?: number;
  readonly after?: number;
  readonly limit?: number;
}

/** A message together with one of its deliveries. */
export interface Mail {
  readonly message: Message;
  readonly delivery: Delivery;
}

/** The result of one step of a purge, which looks at the oldest messages. */
export interface PurgedPart {
  readonly purged: number;
  /** Where the next look goes on; null when everything after it is too young. */
  readonly last: number | null;
}

/** The table of messages. A message never changes. */
export interface MessageRows {
  /** Stores a message and returns its number. Order of numbers is order of commits. */
  insert(message: Omit<Message, "seq">): Promise<number>;
  get(id: string): Promise<Message | undefined>;
  bySeq(seq: number): Promise<Message | undefined>;
  byDedupeKey(fromAgent: string, key: string): Promise<Message | undefined>;
  /** Newest first. */
  list(filter: MessageFilter): Promise<Message[]>;
  thread(threadId: string): Promise<Message[]>;
  /** The questions that live agents wait on and that this name got, or got a copy of. The longest wait comes first. */
  questionsTo(name: string): Promise<Message[]>;
  /** Ids of messages; for suggestions. Newest first. */
  recentIds(limit: number): Promise<string[]>;
  /** How many messages the sender stored since `after`; `broadcast` counts only group sends. */
  countFrom(fromAgent: string, after: number, options: { broadcast: boolean }): Promise<number>;
  /** The newest message with the same sender, address, subject and body stored since `after`. */
  duplicate(
    probe: Pick<Message, "fromAgent" | "address" | "subject" | "body">,
    after: number,
  ): Promise<Message | undefined>;
  /** Messages of the given types that the agent stored while this turn was running, oldest first. */
  ofTurn(turnId: string, types: readonly MailType[]): Promise<Message[]>;
  /**
   * Deletes mail of ended runs sent before that moment, when no agent waits for an answer to it and no delivery is
   * open.
   */
  purgeSettled(before: number, part: { readonly after: number; readonly most: number }): Promise<PurgedPart>;
  /** Which of these files, named without their directory, hold the body of a message. */
  blobsInUse(names: readonly string[]): Promise<ReadonlySet<string>>;
  purge(filter: { before?: number; agent?: string; all?: boolean }): Promise<number>;
}

/** The table of deliveries: one row for each message and recipient. */
export interface DeliveryRows {
  insert(deliveries: readonly Delivery[]): Promise<void>;
  get(messageSeq: number, toAgent: string): Promise<Delivery | undefined>;
  ofMessage(messageSeq: number): Promise<Delivery[]>;
  update(delivery: Delivery): Promise<void>;
  /** Queued and due mail of one agent by priority rank, then number. */
  queued(toAgent: string, now: number, limit: number): Promise<Mail[]>;
  /** Is there any? */
  isDue(toAgent: string, now: number): Promise<boolean>;
  /** The same for the input of a turn: mail that wakes comes first, however much other mail waits. */
  forTurn(toAgent: string, now: number, limit: number): Promise<Mail[]>;
  countQueued(toAgent: string): Promise<number>;
  /** Queued mail that wakes exists for this agent. */
  hasWaking(toAgent: string): Promise<boolean>;
  /** When the first of its queued mail that wakes is due; undefined when there is none. */
  nextWaking(toAgent: string): Promise<number | undefined>;
  inState(toAgent: string, states: readonly DeliveryState[]): Promise<Mail[]>;
  /** What readers have taken and not yet acknowledged, without its messages. */
  handedOut(toAgent: string): Promise<Delivery[]>;
  ofTurn(turnId: string): Promise<Mail[]>;
  /** The earliest moment at which a reader's claim runs out. */
  nextExpiry(): Promise<number | undefined>;
  /**
   * The same for mail of agents that have not ended. An ended agent reads its mail when it is reopened, which has no
   * hurry.
   */
  nextReturn(): Promise<number | undefined>;
  /** Claims whose lease ran out, oldest first. */
  expired(now: number, limit: number): Promise<Delivery[]>;
  dead(limit: number): Promise<Mail[]>;
}

/** When each inbox was last looked at with a debounce, so that the next look may be skipped. */
export interface InboxCheckRows {
  last(agentName: string): Promise<number | undefined>;
  record(agentName: string, now: number): Promise<void>;
}
