/** An object of a foreign stream, of which nothing is known yet. */
export type Fields = Readonly<Record<string, unknown>>;

export const fields = (value: unknown): Fields | undefined => (isFields(value) ? value : undefined);
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
/** The objects of a list; whatever else it holds is left out. */
export const objects = (value: unknown): readonly Fields[] => list(value).filter(isFields);
export const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
export const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
