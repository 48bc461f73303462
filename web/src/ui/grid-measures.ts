import { useEffect, useState } from "react";
import { useSettings } from "../state/settings.ts";

/** The width of the list in em, and the heights that the density asks for. */
export function useMeasures(scroller: { readonly current: HTMLDivElement | null }) {
  const { density } = useSettings();
  const [measures, setMeasures] = useState({ width: 80, rowHeight: 30, twoLines: 52 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another density has other heights
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = (): void => {
      const root = getComputedStyle(document.documentElement);
      const size = (name: string): number => Number.parseFloat(root.getPropertyValue(name));
      const em = Number.parseFloat(root.fontSize);
      setMeasures({ width: element.clientWidth / em, rowHeight: size("--row"), twoLines: size("--row-two-lines") });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [scroller, density]);
  return measures;
}
