from toy.cli import main

main()
