import { toolSummary } from "../../domain/event/tool-call.ts";
import type { Denial } from "../../domain/guard/tool-use.ts";
import type { Letter } from "../../domain/mail/letter.ts";
import { renderBatch } from "../../domain/mail/render.ts";
import type { OpenInput } from "../../ports/agent-process.ts";
import type { AgentAnswer, AgentRequest, Driver } from "../../ports/runtime.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import { mailForTurn, takeForTurn } from "../../usecases/mail/steer.ts";
import type { OwnedTurn } from "./begin.ts";
import type { PlacedEvent, PlacedReply } from "./output-log.ts";
import type { SupervisorPorts } from "./ports.ts";

/** The supervisor's side of an exchange with an agent whose input stays open. */
export interface Exchange {
  /**
   * Answers the questions in lines of output, in their order, before these lines are stored. A supervisor that takes
   * the turn over reads the lines again; the answers are stored too, so every question is answered once. The returned
   * events say which requests were denied.
   */
  answer(replies: readonly PlacedReply[]): Promise<readonly PlacedEvent[]>;
  /** Gives the agent the mail that came since its turn began, where its program takes messages during a turn. */
  steer(): Promise<void>;
  /** The agent's output says that its model got this message. */
  heard(messageId: string): void;
  /** Has mail been written that the agent's model has not got yet? An agent at the end of its turn begins anew with it. */
  isUnheard(): boolean;
  /** The turn is over: the agent reads the end of its input. */
  close(): void;
}

export function exchangeWith(ports: SupervisorPorts, owned: OwnedTurn, driver: Driver): Exchange {
  if (driver.input === "once") return silent;
  const input = ports.files.openInput(owned.turn.logDir ?? "");
  let closed = false;
  const written = new Set<number>();
  const unheard = new Set<string>();
  return {
    steer: async () => {
      const form = driver.steer;
      if (form === null || closed) return;
      for (const letter of await newMail(ports, owned, written)) {
        const { id, seq } = letter.message;
        give(ports, input, `mail-${seq}`, form({ id, text: `${steerNotice}\n\n${renderBatch([letter])}` }));
        written.add(seq);
        unheard.add(id);
      }
    },
    heard: (messageId) => unheard.delete(messageId),
    isUnheard: () => unheard.size > 0,
    answer: async (replies) => {
      const denied: PlacedEvent[] = [];
      for (const placed of replies) {
        const { reply } = placed;
        const decided = reply.kind === "ask" ? await decide(ports, owned, reply.request) : undefined;
        const text = reply.kind === "say" ? reply.text : reply.form(decided?.answer ?? unanswered);
        give(ports, input, `${placed.line}.${placed.part}`, text);
        if (decided?.denial !== undefined) denied.push(denialAt(placed, decided));
      }
      return denied;
    },
    close: () => {
      if (!closed) input.closeInput();
      closed = true;
    },
  };
}

/** A driver that closes the input has no questions to answer. */
const silent: Exchange = {
  answer: async () => [],
  steer: async () => {},
  heard: () => {},
  isUnheard: () => false,
  close: () => {},
};

const steerNotice = "[OVERSTORY] Mail came while you work. Go on with your turn, and act on it.";

/**
 * Takes new mail for this turn. Mail that an earlier supervisor took is among it: it is kept under the same id, and the
 * agent gets it once. It counts as handed over when the agent's output says so.
 */
async function newMail(
  { store, clock }: SupervisorPorts,
  { agent, turn, fence }: OwnedTurn,
  written: ReadonlySet<number>,
): Promise<readonly Letter[]> {
  const due = async (tx: Tx): Promise<readonly Mail[]> =>
    (await mailForTurn(tx, agent, turn.id, clock.now())).filter(({ message }) => !written.has(message.seq));
  if ((await store.read(due)).length === 0) return [];
  return store.transaction(async (tx) => {
    const current = await tx.turns.get(turn.id);
    if (current?.status !== "running" || current.fence !== fence) return [];
    return takeForTurn(tx, await due(tx), turn.id, clock.now());
  });
}

const unanswered: AgentAnswer = { kind: "refused", reason: "nobody decided" };

function give(ports: SupervisorPorts, input: OpenInput, id: string, text: string): void {
  ports.reach("reply.before");
  input.keep(id, text);
  ports.reach("reply.kept");
  input.write(id);
  ports.reach("reply.given");
}

interface Decided {
  readonly answer: AgentAnswer;
  readonly denial?: Denial;
  readonly request: AgentRequest;
}

/** The guard decides about everything that is asked; a file is then read or written for the agent. */
async function decide(ports: SupervisorPorts, { agent }: OwnedTurn, request: AgentRequest): Promise<Decided> {
  const guard = await ports.guard(agent);
  const verdict = guard({ ...useOf(request), cwd: agent.worktreePath, attended: false });
  if (verdict.decision === "deny") {
    return { request, denial: verdict, answer: { kind: "refused", reason: verdict.reason } };
  }
  // The supervisor is not confined: it must not read or write a file for the agent that the sandbox keeps from the
  // agent.
  if (request.kind !== "permission" && ports.sandbox.confines(agent.worktreeKind)) {
    const reason = "the system confines this agent: read and write files with its own tools";
    return { request, answer: { kind: "refused", reason } };
  }
  return { request, answer: served(ports, agent.worktreePath ?? "/", request) };
}

const useOf = (request: AgentRequest) => {
  if (request.kind === "permission") return { tool: request.tool, ...request.use };
  const kind = request.kind === "read-file" ? ("read" as const) : ("edit" as const);
  return { tool: request.kind, kind, command: null, paths: [request.path], changes: kind === "edit" };
};

function served({ files }: SupervisorPorts, cwd: string, request: AgentRequest): AgentAnswer {
  switch (request.kind) {
    case "permission":
      return { kind: "granted", text: "" };
    case "read-file":
      return files.readFor(cwd, request.path);
    case "write-file":
      return files.writeFor(cwd, request.path, request.text);
  }
}

/** No line has as many events; a denial has its own place in the output, so that it is on record once. */
const denialParts = 2_000;

function denialAt({ line, part }: PlacedReply, { request, denial }: Decided): PlacedEvent {
  const id = request.kind === "permission" ? request.id : null;
  const { tool, command, paths } = useOf(request);
  const summary = toolSummary(command === null ? { path: paths[0] } : { command });
  const { rule, reason, of } = denial ?? { rule: "unreadable" as const };
  const why = { rule, ...(reason === undefined ? {} : { reason }), ...(of === undefined ? {} : { of }) };
  return { line, part: part + denialParts, event: { kind: "denied", tool, id, summary, ...why } };
}
