/**
 * What we last wrote, what is there and what ships now, compared:
 *
 * missing    there is nothing
 * current    it is what ships
 * outdated   it is as we wrote it, and something newer ships
 * edited     it was changed by hand; what ships is still what it was made from
 * diverged   it was changed by hand, and something newer ships
 * unknown    nothing says that we wrote it
 */
export const generatedStates = ["missing", "current", "outdated", "edited", "diverged", "unknown"] as const;
export type GeneratedState = (typeof generatedStates)[number];

/** It holds words that are not ours, so it stays unless its owner says otherwise. */
export const keptStates = ["edited", "diverged", "unknown"] as const satisfies readonly GeneratedState[];
export type KeptState = (typeof keptStates)[number];

export const isKept = (state: GeneratedState): state is KeptState => keptStates.some((kept) => kept === state);

export interface Generated {
  readonly found: string | undefined;
  /** What would be written now, with its seal. */
  readonly ships: string;
}

/** How a text that we generate stands to what ships. */
export function generatedState({ found, ships }: Generated, digest: Digest): GeneratedState {
  if (found === undefined) return "missing";
  if (plainForm(found) === plainForm(ships)) return "current";
  const { seal, actual } = readSeal(found, digest);
  if (seal === undefined) return earlier.includes(actual) ? "outdated" : "unknown";
  if (seal === actual) return "outdated";
  return seal === readSeal(ships, digest).seal ? "edited" : "diverged";
}

/** Digests of texts that were written before texts carried a seal: ignore rules, readme and guide. */
const earlier: readonly string[] = ["9c3479acc68c", "db0c23c48268", "29a14b85445f"];

export type UpdateStep = "none" | "write" | "keep" | "replace";

/** The step of an update. `replace`: keeps a copy of the file first. */
export function updateStep(state: GeneratedState, { force }: { readonly force: boolean }): UpdateStep {
  if (isKept(state)) return force ? "replace" : "keep";
  return state === "current" ? "none" : "write";
}

/** One-way digest of a text, lower-case hex. It comes from outside, for nothing here computes one. */
export type Digest = (text: string) => string;

/** The word that a text of ours carries where its seal goes, in whatever its kind of file takes for a comment. */
export const sealWord = "overstory:generated";

/**
 * A text of ours with its own digest in it. By the digest, a later version tells our text from one that was edited
 * since.
 */
export const sealed = (text: string, digest: Digest): string =>
  text.replace(sealWord, `${sealWord} ${shortDigest(text, digest)}`);

/** The digest that a text carries, and its real digest. `seal` is undefined if the text carries none. */
interface SealReading {
  readonly seal: string | undefined;
  /** Digest of the text without its seal: equal to the seal when the text is unchanged. */
  readonly actual: string;
}

export function readSeal(text: string, digest: Digest): SealReading {
  const [whole, seal] = new RegExp(`${sealWord} ([0-9a-f]{12})\\b`).exec(text) ?? [];
  const bare = whole === undefined ? text : text.replace(whole, sealWord);
  return { seal, actual: shortDigest(bare, digest) };
}

/** Git may give a checkout other line ends, and editors end the last line: neither counts as a change by hand. */
const plainForm = (text: string): string => text.replaceAll("\r\n", "\n").trimEnd();

/** Enough digits to notice a change; the digest is no protection. */
const shortDigest = (text: string, digest: Digest): string => digest(plainForm(text)).slice(0, 12);
