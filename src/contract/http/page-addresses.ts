/**
 * The addresses of the page. The page has a component for each, which the types of `web/src/routes.tsx` prove; the server
 * answers any other address with 404.
 */
export const pageAddresses = [
  "/",
  "/fleet",
  "/agents/:name",
  "/merge",
  "/merge/:id",
  "/review",
  "/review/:agent",
  "/coordinator",
  "/mail",
  "/tasks",
  "/runs",
  "/runs/compare",
  "/runs/:id",
  "/costs",
  "/health",
  "/settings",
  "/settings/:section",
] as const;

export type PageAddress = (typeof pageAddresses)[number];

const patterns = pageAddresses.map((address) => new RegExp(`^${address.replace(/:\w+/g, "[^/]+")}/?$`));

export const isPageAddress = (path: string): boolean => patterns.some((pattern) => pattern.test(path));
