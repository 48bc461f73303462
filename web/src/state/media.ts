import { useLayoutEffect, useState } from "react";

/** Does a media query hold now? */
export function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useLayoutEffect(() => {
    const media = matchMedia(query);
    const tell = (): void => setHolds(media.matches);
    tell();
    media.addEventListener("change", tell);
    return () => media.removeEventListener("change", tell);
  }, [query]);
  return holds;
}

/** The page is as narrow as a phone. */
export const useIsPhone = (): boolean => useMedia("(max-width: 40em)");

/** The page is as narrow as a tablet or a phone. */
export const useIsTablet = (): boolean => useMedia("(max-width: 64em)");
