import { type Redaction, redactData, type Strictness } from "../domain/text/redact.ts";
import type { Store, Tx } from "../ports/store.ts";

/** Methods that store words of programs, people and agents, and how much is taken out of these words. */
type Words = { readonly [Family in keyof Tx]?: { readonly [Method in keyof Tx[Family]]?: Strictness } };

/**
 * Only these. Names, paths, and code that is put back into files (remembered resolutions) are never changed. A method
 * that looks for words that were stored is here as well: it must look for them as they were stored.
 */
const words: Words = {
  agents: { move: "said" },
  audit: { record: "said" },
  checks: { insert: "composed", change: "said" },
  criteria: { put: "composed" },
  deliveries: { insert: "said", update: "said" },
  events: { append: "said" },
  groups: { insert: "composed" },
  mergeAttempts: { insert: "said", change: "said" },
  mergeOps: { insert: "composed", settle: "said" },
  merges: { insert: "said", change: "said", setPause: "composed" },
  messages: { insert: "composed", duplicate: "composed" },
  recovery: { putCheckpoint: "composed", addHandoff: "composed", putIdentity: "composed" },
  requests: { store: "composed" },
  runs: { insert: "composed", setObjective: "composed", complete: "composed", addChange: "composed" },
  tasks: { insert: "composed", update: "composed" },
  turns: { queue: "said", end: "said" },
};

/** A store that takes secrets out of all words before it writes them. Reading returns the stored words. */
export function redactingStore(store: Store, redaction: Redaction): Store {
  return { ...store, transaction: (work) => store.transaction((tx) => work(redacting(tx, redaction))) };
}

function redacting(tx: Tx, redaction: Redaction): Tx {
  const made = new Map<PropertyKey, unknown>();
  return new Proxy(tx, {
    get: (inner, name: keyof Tx) => {
      const methods = words[name];
      if (methods === undefined) return inner[name];
      if (!made.has(name)) made.set(name, withoutSecrets(inner[name], methods, redaction));
      return made.get(name);
    },
  });
}

type Methods = Readonly<Record<string, unknown>>;

function withoutSecrets(family: object, chosen: object, redaction: Redaction): Methods {
  const methods = { ...family } as Record<string, unknown>;
  for (const [name, strictness] of Object.entries(chosen) as [string, Strictness][]) {
    const method = methods[name] as (...given: unknown[]) => unknown;
    methods[name] = (...given: unknown[]) =>
      method(...given.map((one) => redactData(one, redaction[strictness], strictness)));
  }
  return methods;
}
