import { useState } from "react";
import { useWhyNot } from "../../api/actions.ts";
import { ApiError, change } from "../../api/client.ts";
import { Button } from "../../ui/controls.tsx";
import css from "./settings-page.module.css";

interface Outcome {
  readonly channels: readonly { readonly channel: string; readonly sent: boolean; readonly problem: string | null }[];
  readonly unavailable: readonly string[];
}

/** Sends a notification by every channel that is configured, and says how each went. */
export function NotifyTest() {
  const whyNot = useWhyNot();
  const [lines, setLines] = useState<readonly string[]>([]);
  const [sends, setSends] = useState(false);
  const test = async (): Promise<void> => {
    setSends(true);
    try {
      setLines(linesOf(await change<Outcome>("POST", "/api/notify/test")));
    } catch (error) {
      setLines([`The test could not be sent: ${error instanceof ApiError ? error.message : String(error)}.`]);
    } finally {
      setSends(false);
    }
  };
  return (
    <div className={css.test}>
      <Button whyNot={whyNot ?? (sends ? "It is being sent" : undefined)} onClick={() => void test()}>
        Send a test notification
      </Button>
      <ul role="status">
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}

function linesOf({ channels, unavailable }: Outcome): readonly string[] {
  if (channels.length === 0 && unavailable.length === 0)
    return ["No channel is set. Set notify.command, notify.webhook or notify.desktop."];
  return [
    ...channels.map(({ channel, problem }) => (problem === null ? `${channel}: sent.` : `${channel}: ${problem}.`)),
    ...unavailable,
  ];
}
