/** The worker: runs tasks, so that no text can freeze the page. */
import { runTask, type TaskRequest } from '../analysis/tasks.js';

addEventListener('message', ({ data }: MessageEvent<TaskRequest>) => {
  void runTask(data).then((reply) => postMessage(reply));
});
