/** What a rule answers: a value, or a refusal that the caller must handle. Exceptions are for the broken, not the expected. */
export type Result<T, R> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: R };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

export const no = <R>(refusal: R): { readonly ok: false; readonly refusal: R } => ({ ok: false, refusal });
