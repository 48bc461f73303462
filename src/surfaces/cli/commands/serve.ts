import { webKeyView } from "../../../contract/views/web.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import type { WebRole } from "../../../domain/web/web-key.ts";
import type { ServeReply } from "../../../usecases/web/serve.ts";
import { addressOf, isLoopback } from "../../../usecases/web/serve.ts";
import type { App, SourcesServer } from "../app.ts";
import type { Handler, Io, Rows } from "../command.ts";
import { integer, isOn, text } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";
import { isTerminal } from "../sink.ts";
import { table } from "../table.ts";
import { untilInterrupted } from "../waiting.ts";

export const serve: Handler = async ({ app, flags, io }) => {
  const [port, host] = [await configured(app, "serve.port"), await configured(app, "serve.host")];
  const [detach, isDev] = [isOn(flags.detach), isOn(flags.dev)];
  if (detach && isDev) return no(invalid("--detach", "does not go with --dev, which works in this process"));
  const request = {
    host: text(flags.host) ?? String(host),
    port: integer(flags.port) ?? Number(port),
    strictPort: isOn(flags["strict-port"]),
    detach,
  };
  const served = await app.call("web.serve", request);
  if (!served.ok) return served;
  const { attached, pid } = served.value;
  const sources = isDev ? await devServer(app, served.value.url, integer(flags["dev-port"])) : ok(undefined);
  if (!sources.ok) {
    if (!attached) await app.call("web.stop", {});
    return sources;
  }
  const devUrl = sources.value?.url;
  const url = await loginUrl(app, io, { url: devUrl ?? served.value.url });
  if (!url.ok) return url;
  if (!isLoopback(served.value.host))
    io.warn(
      `the page is served at ${served.value.host}: other machines can reach it, and only the login keeps them out`,
    );
  if (served.value.port !== request.port && !attached)
    io.warn(`port ${request.port} is taken; the page is at port ${served.value.port}`);
  const wanted = integer(flags.port);
  if (attached && wanted !== undefined && wanted !== served.value.port)
    io.warn(
      `the page is served at port ${served.value.port} already; to move it: ov serve stop, then ov serve --port ${wanted}`,
    );
  if (isOn(flags.open)) await app.openInBrowser(url.value.full);
  const json = {
    status: attached ? "attached" : "started",
    port: served.value.port,
    hostname: served.value.host,
    url: served.value.url,
    loginUrl: url.value.full,
    ...(devUrl === undefined ? {} : { devUrl }),
    pid,
  };
  const ends = detach || (attached && !isDev);
  return ok({
    json,
    text: [
      successLine(io.paint, attached ? "Served already:" : "Serving:", url.value.shown),
      ...(url.value.isCut
        ? [hintLine(io.paint, "on a terminal, ov serve login shows an address with a login code")]
        : []),
      ...(ends ? [hintLine(io.paint, "to end it: ov serve stop")] : ["Until Ctrl-C."]),
    ].join("\n"),
    quietText: url.value.shown,
    ...(ends ? {} : { afterPrint: () => stay(app, io, { sources: sources.value, stopsServing: !attached }) }),
  });
};

async function devServer(app: App, url: string, port = 3000): Promise<Result<SourcesServer, Refusal>> {
  try {
    const served = await app.serveSources({ api: url.replace(/\/$/, ""), port });
    if (served !== "no-sources") return ok(served);
  } catch (error) {
    return no({ kind: "busy", what: `port ${port}: ${error instanceof Error ? error.message : String(error)}` });
  }
  const missing = "needs the sources of the page, which this program does not have; use bin/ov of a checkout";
  return no(invalid("--dev", missing));
}

interface Stay {
  readonly sources: SourcesServer | undefined;
  readonly stopsServing: boolean;
}

/** Keeps the engine listening, and the sources served, for as long as this process lives. */
async function stay(app: App, io: Io, { sources, stopsServing }: Stay): Promise<void> {
  await untilInterrupted((over) => new Promise<void>((resolve) => over.addEventListener("abort", () => resolve())));
  await sources?.close();
  if (!stopsServing) return;
  const stopped = await app.call("web.stop", {});
  if (stopped.ok) io.say("The page is not served any more. Agents go on.");
}

async function configured(app: App, key: string): Promise<unknown> {
  const found = await app.call("config.get", { key });
  return found.ok ? found.value : undefined;
}

/**
 * The address with a code that counts once. A file that the output goes to may be read by others, agents among them, so
 * the code is shown on a terminal, or in the document that a program asked for.
 */
async function loginUrl(app: App, io: Io, { url }: Pick<ServeReply, "url">, role: WebRole = "operator") {
  const issued = await app.call("web.issueKey", { kind: "code", role });
  if (!issued.ok) return issued;
  const full = `${url}#code=${issued.value.secret}`;
  const isCut = !isTerminal(1) && !io.json;
  return ok({ full, shown: isCut ? url : full, isCut });
}

export const login: Handler = async ({ app, flags, io }) => {
  const found = await app.call("web.readListener", {});
  if (!found.ok) return found;
  const { listener } = found.value;
  if (listener?.boundPort == null) return no({ kind: "not-served" });
  const role = text(flags.role) === "viewer" ? "viewer" : "operator";
  if (isOn(flags.token)) {
    const issued = await app.call("web.issueKey", { kind: "token", role });
    if (!issued.ok) return issued;
    const { secret, id, expiresAt } = issued.value;
    const json = { id, token: secret, role, expiresAt: new Date(expiresAt).toISOString() };
    const isCut = !isTerminal(1) && !io.json;
    return ok({ json, text: isCut ? "a token is shown on a terminal, or with --json" : secret });
  }
  const url = await loginUrl(app, io, { url: addressOf(listener.host, listener.boundPort) }, role);
  if (!url.ok) return url;
  const why = "the code is left out: it is shown on a terminal alone, or with --json";
  const shown = url.value.isCut ? `${url.value.shown}\n${hintLine(io.paint, why)}` : url.value.shown;
  return ok({ json: { url: url.value.full, role }, text: shown, quietText: url.value.shown });
};

export const keys: Handler = async ({ app, io }) => {
  const listed = await app.call("web.listKeys", {});
  if (!listed.ok) return listed;
  const found = listed.value.keys.map(webKeyView);
  const rows: Rows = {
    columns: ["id", "kind", "role", "since", "until", "last used"],
    cells: found.map(({ id, kind, role, createdAt, expiresAt, usedAt }) => [
      id,
      kind,
      role,
      createdAt,
      expiresAt,
      usedAt ?? "never",
    ]),
  };
  return ok({
    json: { keys: found },
    text: found.length === 0 ? "No browser is logged in, and no program has a token." : table(rows, io.paint),
    rows,
  });
};

export const revoke: Handler = async ({ app, args, flags, io }) => {
  const [id, role] = [text(args.id), text(flags.role)];
  const named = [id !== undefined, role !== undefined, isOn(flags.all)].filter(Boolean).length;
  if (named !== 1) return no(invalid("id", "is needed, or one of --role and --all"));
  const revoked = await app.call("web.revokeKeys", {
    ...(id === undefined ? {} : { id }),
    ...(role === undefined ? {} : { role: role === "viewer" ? "viewer" : "operator" }),
  });
  if (!revoked.ok) return revoked;
  const { revoked: count } = revoked.value;
  return ok({ json: { revoked: count }, text: successLine(io.paint, "Ended:", String(count)), quietText: "" });
};

const notServed = (io: Io): string => warningLine(io.paint, "The page is not served.", "ov serve");

export const status: Handler = async ({ app, io }) => {
  const found = await app.call("web.readListener", {});
  if (!found.ok) return found;
  const { listener } = found.value;
  const engine = app.engine.status();
  const isServed = listener?.boundPort != null && engine !== undefined;
  const url = isServed ? addressOf(listener.host, listener.boundPort ?? 0) : null;
  const json = {
    serving: isServed,
    url,
    port: isServed ? listener.boundPort : null,
    host: listener?.host ?? null,
    detached: listener === null ? null : listener.owner === null,
    pid: engine?.pid ?? null,
  };
  return ok({ json, text: url === null ? notServed(io) : `Served at ${url} by engine ${engine?.pid}` });
};

export const stop: Handler = async ({ app, io }) => {
  const done = await app.call("web.stop", {});
  if (!done.ok) return done;
  const { wasListening } = done.value;
  const line = wasListening
    ? successLine(io.paint, "The page is not served any more.", "")
    : "The page was not served.";
  return ok({ json: { stopped: wasListening }, text: line, quietText: "" });
};
