import type { Notification } from "../domain/notification/notification.ts";
import type { NotifyChannel } from "../ports/notify-channels.ts";
import { markedAsGate } from "./linux/mark.ts";

interface NotifySettings {
  readonly command?: string | undefined;
  readonly webhook?: string | undefined;
  readonly desktop: boolean;
  readonly timeoutMs: number;
}

type Variables = Readonly<Record<string, string>>;

/**
 * The configured channels. `env`: the variables of the engine, never those of an agent. `isConfirmed`: whether the
 * operator has confirmed the command.
 */
export function notifyChannels(
  { command, webhook, desktop, timeoutMs }: NotifySettings,
  env: Variables,
  isConfirmed = (): boolean => true,
): readonly NotifyChannel[] {
  const notifySend = desktop ? Bun.which("notify-send", { PATH: env.PATH ?? "" }) : null;
  return [
    ...(command === undefined || command.trim() === "" ? [] : [byCommand(command, env, timeoutMs, isConfirmed)]),
    ...(notifySend === null ? [] : [onDesktop(notifySend, env, timeoutMs)]),
    ...(webhook === undefined ? [] : [byWebhook(webhook, timeoutMs)]),
  ];
}

/** Why a channel that is configured cannot be used on this machine. */
export function unavailableChannels({ desktop }: NotifySettings, env: Variables): readonly string[] {
  const isThere = Bun.which("notify-send", { PATH: env.PATH ?? "" }) !== null;
  return desktop && !isThere ? ["notify.desktop is on, and no program notify-send is on your PATH"] : [];
}

/** Agents' texts are in the document on standard input only: no line of the command is made of them. */
const byCommand = (command: string, env: Variables, timeoutMs: number, isConfirmed: () => boolean): NotifyChannel => ({
  name: "command",
  send: async (notification, stop) => {
    if (!isConfirmed())
      return "notify.command was changed in a file while agents worked; set it yourself: ov config set";
    const { project, title, items } = notification;
    const told = {
      OVERSTORY_NOTIFY_COUNT: String(items.length),
      OVERSTORY_NOTIFY_KINDS: [...new Set(items.map(({ kind }) => kind))].join(" "),
      OVERSTORY_NOTIFY_TITLE: `${project}: ${title}`,
    };
    const input = `${JSON.stringify(notification)}\n`;
    return run(["/bin/sh", "-c", command], { input, env: { ...env, ...told }, timeoutMs, stop });
  },
});

/** More lines than a desktop shows. */
const mostLines = 5;

const onDesktop = (program: string, env: Variables, timeoutMs: number): NotifyChannel => ({
  name: "desktop",
  send: (notification, stop) => {
    const { project, title, command } = notification;
    const words = [program, "--app-name=overstory", "--", `${project}: ${title}`, bodyOf(notification, command)];
    return run(words, { input: "", env, timeoutMs, stop });
  },
});

function bodyOf({ items }: Notification, command: string): string {
  const lines = items.slice(0, mostLines).map(({ subject }) => subject);
  const rest = items.length > mostLines ? [`and ${items.length - mostLines} more`] : [];
  // A desktop takes the body for markup.
  const escaped = (text: string): string =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return [...lines, ...rest, command].map(escaped).join("\n");
}

/** A redirection is not followed: only the configured address may learn about the project. */
const byWebhook = (address: string, timeoutMs: number): NotifyChannel => ({
  name: "webhook",
  send: async (notification, stop) => {
    try {
      const answer = await fetch(address, {
        method: "POST",
        redirect: "manual",
        headers: { "content-type": "application/json", "user-agent": "overstory" },
        body: JSON.stringify(notification),
        signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]),
      });
      await answer.body?.cancel();
      // The path and the query of an address may be a secret.
      return answer.ok ? undefined : `${new URL(address).host} answered ${answer.status}`;
    } catch (error) {
      if (stop.aborted) return cutShort;
      const isLate = error instanceof Error && error.name === "TimeoutError";
      return isLate ? late(timeoutMs) : `${new URL(address).host} could not be reached`;
    }
  },
});

const cutShort = "the engine was asked to end";
const late = (timeoutMs: number): string => `it took longer than ${timeoutMs} ms and was given up`;

interface RunTerms {
  readonly input: string;
  readonly env: Variables;
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
}

/**
 * Runs a program in a group of its own, which is ended whole when the time is over. Agents can write the file that names
 * it, so it is not the operator.
 */
async function run(command: string[], { input, env, timeoutMs, stop }: RunTerms): Promise<string | undefined> {
  let problem: string | undefined;
  const child = Bun.spawn(markedAsGate(command), {
    cwd: "/",
    env,
    stdin: new TextEncoder().encode(input),
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });
  const end = (why: string): void => {
    problem ??= why;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      child.kill("SIGKILL");
    }
  };
  const timer = setTimeout(() => end(late(timeoutMs)), timeoutMs);
  const onStop = (): void => end(cutShort);
  stop.addEventListener("abort", onStop);
  try {
    const code = await child.exited;
    return problem ?? (code === 0 ? undefined : `it ended with ${child.signalCode ?? `exit code ${code}`}`);
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", onStop);
  }
}
