// The first script of the page: sends the first requests, then loads the application.
import { beginRequests } from "./first-requests.ts";

const showFailure = (): void => {
  const heading = document.createElement("h1");
  heading.append("The dashboard could not be loaded");
  const retry = document.createElement("button");
  retry.append("Try again");
  retry.addEventListener("click", () => location.reload());
  const screen = document.createElement("main");
  screen.role = "alert";
  screen.append(heading, retry);
  document.getElementById("root")?.replaceChildren(screen);
};

beginRequests();
import("../app.tsx").catch((cause: unknown) => {
  showFailure();
  throw cause;
});
