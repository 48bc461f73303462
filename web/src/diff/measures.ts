import { useLayoutEffect, useState } from "react";
import { useMedia } from "../state/media.ts";

/** How many characters fit beside each other in the diff, how high a line is, and how wide the pane is, in em. */
export function useTextSize(scroller: { readonly current: HTMLElement | null }) {
  const [size, setSize] = useState({ columns: 0, lineHeight: 18, paneWidth: 0 });
  useLayoutEffect(() => {
    const pane = scroller.current;
    if (pane === null) return;
    const measure = (): void => {
      const probe = document.createElement("code");
      probe.textContent = "0".repeat(100);
      probe.style.position = "absolute";
      pane.append(probe);
      const { width } = probe.getBoundingClientRect();
      const lineHeight = Number.parseFloat(getComputedStyle(probe).lineHeight);
      probe.remove();
      const em = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
      setSize({
        columns: Math.floor(pane.clientWidth / (width / 100)),
        lineHeight: Number.isFinite(lineHeight) ? lineHeight : 18,
        paneWidth: pane.clientWidth / em,
      });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(pane);
    return () => observer.disconnect();
  }, [scroller]);
  return size;
}

/** 1100 px, the width of a window from which two columns can be read. */
const wide = "(min-width: 68.75em)";
/** Two columns in a pane that is narrower than this would break every line. */
const narrowPane = 38;

/** Two columns on a wide window, else one; the address can say otherwise. */
export function useMode(asked: string | undefined, paneWidth: number): "split" | "unified" {
  const isWide = useMedia(wide);
  if (asked === "split" || asked === "unified") return asked;
  return isWide && (paneWidth === 0 || paneWidth >= narrowPane) ? "split" : "unified";
}
