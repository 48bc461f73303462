import type { Topic } from "./topics.ts";

interface Operation {
  readonly id: string;
  readonly status: "running" | "done" | "failed";
  /** How far it is, where it tells. */
  readonly progress?: unknown;
  readonly reply?: unknown;
  readonly error?: unknown;
}

/** More at once than a person starts. */
const mostRunning = 50;

/** Work that takes longer than a request may. How far it is, and its reply, are the topic `op:<id>`. */
export class Operations {
  readonly #changed: (id: string) => void;
  readonly #known = new Map<string, { shown: Operation; endedAt: number }>();

  constructor(changed: (id: string) => void) {
    this.#changed = changed;
  }

  /** Begins it. Undefined when too much is under way. */
  start(
    work: (tell: (item: unknown) => void) => Promise<{ readonly reply: unknown } | { readonly error: unknown }>,
  ): string | undefined {
    const running = [...this.#known.values()].filter(({ shown }) => shown.status === "running");
    if (running.length >= mostRunning) return undefined;
    const id = crypto.randomUUID();
    const one = { shown: { id, status: "running" } as Operation, endedAt: Number.POSITIVE_INFINITY };
    this.#known.set(id, one);
    const show = (more: Partial<Operation>): void => {
      one.shown = { ...one.shown, ...more };
      this.#changed(id);
    };
    const settle = (outcome: object): void => {
      one.endedAt = performance.now();
      show({ status: "error" in outcome ? "failed" : "done", ...outcome });
    };
    work((progress) => show({ progress })).then(settle, (error: unknown) =>
      settle({ error: { code: "INTERNAL_ERROR", message: String(error) } }),
    );
    return id;
  }

  topicOf(name: string): Topic | undefined {
    const id = name.startsWith("op:") ? name.slice("op:".length) : "";
    if (!this.#known.has(id)) return undefined;
    return {
      kind: "state",
      look: async () => {
        const found = this.#known.get(id);
        return found === undefined ? undefined : { data: found.shown, items: new Map([["", found.shown]]) };
      },
    };
  }

  /** Forgets what ended so long ago. */
  forget(olderThanMs: number): void {
    const old = performance.now() - olderThanMs;
    for (const [id, { endedAt }] of this.#known) if (endedAt < old) this.#known.delete(id);
  }
}
