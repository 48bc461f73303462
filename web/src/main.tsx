import "./styles/tokens.css";
import "./styles/base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { logIn } from "./api/client.ts";
import { cache, connection } from "./live/resource.ts";
import { router } from "./routes.tsx";
import { listenForKeys } from "./state/commands.ts";
import { listenForLeaving } from "./state/last-look.ts";
import { applyAppearance } from "./state/settings.ts";
import { toast } from "./state/toasts.ts";

applyAppearance();
// Radix writes one style element while a dialog is open; the server lets it pass by this nonce.
setNonce(document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "");
listenForKeys();
listenForLeaving();
await logIn().catch((error: Error) => toast(`Could not sign in: ${error.message}.`, { failed: true }));
connection.open();
createRoot(document.querySelector("#app") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={cache}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
