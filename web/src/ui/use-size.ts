import { type RefObject, useEffect, useState } from "react";

/** The size of an element in pixels, for drawings that are made for it. 0 before the first look. */
export function useSize(element: RefObject<Element | null>): { readonly width: number; readonly height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const shown = element.current;
    if (shown === null) return;
    const observer = new ResizeObserver(() => setSize({ width: shown.clientWidth, height: shown.clientHeight }));
    observer.observe(shown);
    return () => observer.disconnect();
  }, [element]);
  return size;
}
