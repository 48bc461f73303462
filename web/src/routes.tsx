import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import type { PageAddress } from "./api/types.ts";
import { NotFound } from "./pages/not-found.tsx";
import { App } from "./shell/app.tsx";
import { parseSearch, writeSearch } from "./state/url.ts";

const root = createRootRoute({ component: App, notFoundComponent: NotFound });

type Page = () => Promise<{ default: () => React.ReactNode }>;

/** What each address shows. Each page is its own chunk, loaded when it is first opened. */
const pages: Readonly<Record<PageAddress, Page>> = {
  "/": () => import("./pages/overview/overview-page.tsx"),
  "/fleet": () => import("./pages/fleet/fleet-page.tsx"),
  "/agents/:name": () => import("./pages/agent/agent-page.tsx"),
  "/merge": () => import("./pages/merge/merge-page.tsx"),
  "/merge/:id": () => import("./pages/merge/entry-page.tsx"),
  "/review": () => import("./pages/review/review-page.tsx"),
  "/review/:agent": () => import("./pages/review/review-page.tsx"),
  "/coordinator": () => import("./pages/coordinator/coordinator-page.tsx"),
  "/mail": () => import("./pages/mail/mail-page.tsx"),
  "/tasks": () => import("./pages/tasks/tasks-page.tsx"),
  "/runs": () => import("./pages/runs/runs-page.tsx"),
  "/runs/compare": () => import("./pages/runs/compare-page.tsx"),
  "/runs/:id": () => import("./pages/runs/run-page.tsx"),
  "/costs": () => import("./pages/costs/costs-page.tsx"),
  "/health": () => import("./pages/health/health-page.tsx"),
  "/settings": () => import("./pages/settings/settings-page.tsx"),
  "/settings/:section": () => import("./pages/settings/settings-page.tsx"),
};

const routes = Object.entries(pages).map(([address, load]) =>
  createRoute({
    getParentRoute: () => root,
    path: address.replaceAll(":", "$"),
    component: lazyRouteComponent(load),
  }),
);

export const router = createRouter({
  routeTree: root.addChildren(routes),
  parseSearch,
  stringifySearch: writeSearch,
  defaultPreload: "intent",
});
