import { useEffect, useState } from "react";
import { closeToast, type Toast, useToasts } from "../state/toasts.ts";
import { clockTime } from "../state/words.ts";
import { Button } from "./controls.tsx";
import { Overlay } from "./overlays.tsx";
import css from "./toasts.module.css";

const shownAtOnce = 3;
const shownMs = 6000;

/** What just happened, at the lower left. Two live regions: failures interrupt a screen reader, the rest waits its turn. */
export function Toasts() {
  const all = useToasts();
  const shown = all.filter((each) => each.shown).slice(-shownAtOnce);
  return (
    <section className={css.toasts} aria-label="Messages">
      <div role="alert">
        {shown
          .filter(({ failed }) => failed)
          .map((each) => (
            <ToastCard key={each.id} toast={each} />
          ))}
      </div>
      <div role="status">
        {shown
          .filter(({ failed }) => !failed)
          .map((each) => (
            <ToastCard key={each.id} toast={each} />
          ))}
      </div>
    </section>
  );
}

function ToastCard({ toast }: { toast: Toast }) {
  const [held, setHeld] = useState(false);
  const { id, failed } = toast;
  useEffect(() => {
    if (failed || held) return;
    const timer = setTimeout(() => closeToast(id), shownMs);
    return () => clearTimeout(timer);
  }, [id, failed, held]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering and focusing only keep it on the page
    <div
      className={css.toast}
      data-tone={failed ? "bad" : undefined}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <p>{toast.text}</p>
      <span className={css.buttons}>
        {toast.action === undefined ? null : (
          <Button
            onClick={() => {
              closeToast(id);
              toast.action?.run();
            }}
          >
            {toast.action.label}
          </Button>
        )}
        <Button look="quiet" aria-label="Close message" onClick={() => closeToast(id)}>
          Close
        </Button>
      </span>
    </div>
  );
}

/** All messages of this visit, newest first. */
export function ToastList({ open, onClose }: { open: boolean; onClose: () => void }) {
  const all = useToasts();
  return (
    <Overlay title="Messages of this visit" shape="panel" open={open} onClose={onClose}>
      <ol className={css.list}>
        {all.length === 0 ? <li>Nothing has been said yet.</li> : null}
        {all.toReversed().map((each) => (
          <li key={each.id} data-tone={each.failed ? "bad" : undefined}>
            <time>{clockTime(each.at)}</time> {each.text}
          </li>
        ))}
      </ol>
    </Overlay>
  );
}
