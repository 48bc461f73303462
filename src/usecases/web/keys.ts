import { invalid, notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, flag, noFields, oneOf, text } from "../../domain/schema/schema.ts";
import { keyLifeMs, type WebKey, type WebKeyKind, type WebRole, webRoles } from "../../domain/web/web-key.ts";
import type { Context, UseCase } from "../usecase.ts";

/** A secret, told once. Only its digest is stored. That of a session is two halves with a dot between them. */
export interface IssuedKey {
  readonly id: string;
  readonly secret: string;
  readonly role: WebRole;
  readonly expiresAt: number;
}

/** Makes a code that lets a browser in once, or a token for a program. Only the operator's commands show it. */
export const issueKey: UseCase<{ readonly kind: "code" | "token"; readonly role: WebRole }, IssuedKey> = {
  kind: "write",
  request: fields({ kind: oneOf(["code", "token"]), role: oneOf(webRoles) }),
  operatorOnly: true,
  run: async (tx, context, { kind, role }) => {
    await tx.web.dropExpired(context.now);
    const { issued, key } = makeKey(context, kind, role);
    await tx.web.addKey(key);
    const detail = JSON.stringify({ id: issued.id, kind, role });
    await tx.audit.record({ caller: "operator", action: "web.issueKey", refused: false, detail, now: context.now });
    return ok(issued);
  },
};

/** Exchanges a code for a session. A code counts once. */
export const logIn: UseCase<{ readonly code: string }, IssuedKey> = {
  kind: "write",
  request: fields({ code: text }),
  operatorOnly: true,
  run: async (tx, context, { code }) => {
    const { ids, now } = context;
    const digest = ids.digest(code);
    const found = await tx.web.key(digest);
    if (found?.kind !== "code" || found.expiresAt <= now || !(await tx.web.dropKey(digest))) {
      return no(invalid("code", "was used already, is too old, or was never given out"));
    }
    const { issued, key } = makeKey(context, "session", found.role);
    await tx.web.addKey(key);
    await tx.audit.record({
      caller: found.role,
      action: "web.logIn",
      refused: false,
      detail: JSON.stringify({ id: issued.id, over: "web" }),
      now,
    });
    return ok(issued);
  },
};

/** The key with this secret. Its role is null when there is no such key, or when its time is up. */
export const readKey: UseCase<
  { readonly secret: string; readonly kind: WebKeyKind },
  { readonly role: WebRole | null; readonly id: string; readonly expiresAt: number }
> = {
  kind: "read",
  request: fields({ secret: text, kind: oneOf(["code", "session", "token"]) }),
  operatorOnly: true,
  startsNoEngine: true,
  run: async (tx, { ids, now }, { secret, kind }) => {
    const key = await tx.web.key(ids.digest(secret));
    const counts = key?.kind === kind && key.expiresAt > now;
    return ok(counts ? { role: key.role, id: key.id, expiresAt: key.expiresAt } : { role: null, id: "", expiresAt: 0 });
  },
};

/** Notes that a session or token was shown just now. */
export const noteKeyUse: UseCase<{ readonly id: string }, object> = {
  kind: "write",
  request: fields({ id: text }),
  operatorOnly: true,
  run: async (tx, { now }, { id }) => {
    await tx.web.noteUse(id, now);
    return ok({});
  },
};

/** Ends one session or token by its secret, as a browser that logs out does. */
export const logOut: UseCase<{ readonly secret: string }, object> = {
  kind: "write",
  request: fields({ secret: text }),
  operatorOnly: true,
  run: async (tx, { ids, now }, { secret }) => {
    const digest = ids.digest(secret);
    const key = await tx.web.key(digest);
    if (key === undefined) return ok({});
    await tx.web.dropKey(digest);
    const detail = JSON.stringify({ id: key.id, over: "web" });
    await tx.audit.record({ caller: key.role, action: "web.logOut", refused: false, detail, now });
    return ok({});
  },
};

/** The sessions and tokens that count, without their secrets. */
export const listKeys: UseCase<object, { readonly keys: readonly Omit<WebKey, "digest">[] }> = {
  kind: "read",
  request: noFields,
  operatorOnly: true,
  run: async (tx, { now }) => ok({ keys: (await tx.web.keys(now)).map(({ digest: _, ...key }) => key) }),
};

/** Ends sessions and tokens: one by its id, those of a role, or all of them. */
export const revokeKeys: UseCase<
  { readonly id?: string | undefined; readonly role?: WebRole | undefined },
  { readonly revoked: number }
> = {
  kind: "write",
  request: fields({}, { id: text, role: oneOf(webRoles) }),
  operatorOnly: true,
  run: async (tx, { now }, { id, role }) => {
    const revoked = await tx.web.dropKeysOf(role, id);
    if (id !== undefined && revoked === 0) return no(notFound("key", id));
    const detail = JSON.stringify({ id: id ?? "all", role: role ?? "all", revoked });
    await tx.audit.record({ caller: "operator", action: "web.revokeKeys", refused: false, detail, now });
    return ok({ revoked });
  },
};

function makeKey({ ids, now }: Pick<Context, "ids" | "now">, kind: WebKeyKind, role: WebRole) {
  // A browser sends its cookie to every port of this machine. So the cookie is half of a session; the page, whose storage
  // no other port can read, has the other half.
  const secret = kind === "session" ? `${ids.secret()}.${ids.secret()}` : ids.secret();
  const id = ids.next("key");
  const expiresAt = now + keyLifeMs[kind];
  const key: WebKey = { digest: ids.digest(secret), id, kind, role, createdAt: now, expiresAt, usedAt: null };
  return { key, issued: { id, secret, role, expiresAt } satisfies IssuedKey };
}

export interface ChangeRecord {
  readonly route: string;
  readonly role: WebRole;
  /** The id of the session or token that was shown. */
  readonly key: string;
  /** The names in the address: the agent, the merge, the message. */
  readonly target: string;
  readonly isDone: boolean;
}

/** Notes a change that was asked for over the web, done or refused. */
export const recordChange: UseCase<ChangeRecord, object> = {
  kind: "write",
  request: fields({ route: text, role: oneOf(webRoles), key: text, target: text, isDone: flag }),
  operatorOnly: true,
  run: async (tx, { now }, { route, role, key, target, isDone }) => {
    const detail = JSON.stringify({ target, id: key, over: "web" });
    await tx.audit.record({ caller: role, action: route, refused: !isDone, detail, now });
    return ok({});
  },
};
