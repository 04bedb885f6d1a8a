// Given to a program of ours by `NODE_OPTIONS=--import=…`: on SIGUSR2 a promise is rejected on which nobody has a handler.
process.on("SIGUSR2", () => void Promise.reject(new Error("nobody awaits this")));
