import { useEffect, useState } from "react";

const place = "overstory.left";
/** Shorter absences are no reason to tell what happened. */
const awayMs = 10 * 60_000;

function leftAt(): number | undefined {
  const left = Number(localStorage.getItem(place) ?? "");
  return left > 0 && Date.now() - left > awayMs ? left : undefined;
}

const noteNow = (): void => localStorage.setItem(place, String(Date.now()));

/** Notes when the page goes out of sight, whichever page of ours that is. */
export function listenForLeaving(): void {
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") noteNow();
  });
  addEventListener("pagehide", noteNow);
}

/** When the person last looked at the page before now; undefined after a short absence, and once it was read. */
export function useLastLook() {
  const [since, setSince] = useState(leftAt);
  useEffect(() => {
    const look = (): void => {
      if (document.visibilityState === "visible") setSince((before) => leftAt() ?? before);
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  const forget = (): void => {
    noteNow();
    setSince(undefined);
  };
  return { since, forget };
}
