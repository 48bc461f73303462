/** A viewer sees everything and changes nothing. */
export const webRoles = ["operator", "viewer"] as const;
export type WebRole = (typeof webRoles)[number];

/**
 * code     is typed or followed once, and becomes a session
 * session  is in the cookie of a browser
 * token    is shown by a program with each request
 */
export type WebKeyKind = "code" | "session" | "token";

/** What lets a person or a program in. Only the digest of the secret is stored. */
export interface WebKey {
  readonly digest: string;
  readonly id: string;
  readonly kind: WebKeyKind;
  readonly role: WebRole;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** When it was last shown, to the minute; null: never. */
  readonly usedAt: number | null;
}

const minute = 60_000;
const day = 24 * 60 * minute;

/** For how long a key of each kind counts. */
export const keyLifeMs: Readonly<Record<WebKeyKind, number>> = { code: 10 * minute, session: 7 * day, token: 90 * day };
