/** What a step of the merge answers: a value, or a sentence why there is none. This folder imports nothing of ours. */
export type Result<T, R> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: R };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

export const no = <R>(refusal: R): { readonly ok: false; readonly refusal: R } => ({ ok: false, refusal });
