(defun zeph-agent-config ()
  (agent-shell-make-agent-config
   :identifier 'zeph :mode-line-name "Zeph" :buffer-name "Zeph"
   :shell-prompt "Zeph> " :shell-prompt-regexp "Zeph> "
   :client-maker (lambda (buffer)
                   (acp-make-client :command COMMAND :command-params '() :context-buffer buffer))))
(defun zeph () (interactive) (agent-shell-start :config (zeph-agent-config)))
